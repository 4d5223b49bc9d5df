# SPDX-License-Identifier: Apache-2.0
# Vector add on the CPU with every access checked, reading and writing .npy files.
args=(--arg 'x=f32[1000]:rand(0)' --arg 'y=f32[1000]:rand(1)' --arg 'out=f32[1000]:zeros' --arg n=1000 --grid 'cdiv(n,BLOCK)' -D BLOCK=1024)
status 0 tilec --run "$ADD" --target cpu "${args[@]}" --check
has out 'every access checked'
status 0 tilec --run "$ADD" --target cpu "${args[@]}" --out out=@sum.npy --out x=@x.npy
status 0 tilec --run "$ADD" --target cpu --arg x=@x.npy --arg 'y=f32[1000]:rand(1)' --arg 'out=f32[1000]:fill(7)' --arg n=1000 \
  --grid 'cdiv(n,BLOCK)' --expect out=@sum.npy
has out 'as expected'
status 1 tilec --run "$ADD" --target cpu --arg x=@x.npy --arg 'y=f32[1000]:rand(2)' --arg 'out=f32[1000]:zeros' --arg n=1000 \
  --grid 'cdiv(n,BLOCK)' --expect out=@sum.npy
has err '[E0730]'
has err 'first at [0]'
status 0 tilec --run "$ADD" --target cpu "${args[@]}" --json
has out '"checked": false'
