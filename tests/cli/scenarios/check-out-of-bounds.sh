# SPDX-License-Identifier: Apache-2.0
# For a missing mask, --check names the line and the argument.
sed 's/, mask=mask//' "$ADD" > bad.tile
status 1 tilec --run bad.tile --target cpu --arg 'x=f32[1000]:rand(0)' --arg 'y=f32[1000]:rand(1)' --arg 'out=f32[1000]:zeros' \
  --arg n=1000 --grid 'cdiv(n,BLOCK)' -D BLOCK=1024 --check
has err 'bad.tile:10:'
has err '[E0801]'
has err 'load reads past the end of `x`'
has err 'load reads past the end of `y`'
has err 'store writes past the end of `out`'
has err '[E0802]'
has err '`x` has 1000 elements'
has err 'mask'
