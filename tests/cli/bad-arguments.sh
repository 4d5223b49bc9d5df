# SPDX-License-Identifier: Apache-2.0
# Arguments and grids that do not fit the kernel.
run=(tilec --run "$ADD" --target host --arg 'y=f32[8]:ones' --arg 'out=f32[8]:zeros')
status 1 "${run[@]}" --arg n=8 --arg 'x=f32[8' --grid 1
has err '[E0720]'
status 1 "${run[@]}" --arg n=8 --arg 'x=f32[8]:ones' --arg 'outt=f32[8]:ones' --grid 1
has err '[E0721]'
has err 'did you mean `out`?'
status 1 "${run[@]}" --arg n=8 --grid 1
has err '[E0722]'
status 1 "${run[@]}" --arg n=8 --arg x=3 --grid 1
has err '[E0723]'
status 1 "${run[@]}" --arg n=1.5 --arg 'x=f32[8]:ones' --grid 1
has err '[E0723]'
status 1 "${run[@]}" --arg n=8 --arg 'x=f32[8]:ones' --arg BLOCK=8 --grid 1
has err 'give it as `-D BLOCK=8`'
status 1 "${run[@]}" --arg n=8 --arg 'x=f32[8]:ones' --grid 'cdiv(m,BLOCK)'
has err '[E0724]'
status 1 "${run[@]}" --arg n=8 --arg 'x=f32[8]:ones' --grid 0
has err '[E0725]'
