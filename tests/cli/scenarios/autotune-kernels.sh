# SPDX-License-Identifier: Apache-2.0
# Tunes softmax and a small matrix product, with their own lists or derived spaces.
export TILE_CACHE_DIR=$PWD/cache
cp "$HERE/../../../tutorials/03-fused-softmax/softmax.tile" "$HERE/../../../tutorials/06-matmul/matmul.tile" .
status 0 tilec --autotune softmax.tile --target cpu --arg 'x=f32[16x200]:randn(0)' --arg 'out=f32[16x200]:zeros' \
  --arg rows=16 --arg columns=200 --arg x_stride=200 --arg out_stride=200 --grid 'cdiv(rows,ROWS)' --candidates 4
has out 'written  softmax.tune.json'
has softmax.tune.json '"BLOCK": 256'
lacks out 'wrong'
status 0 tilec --autotune matmul.tile --target cpu --arg 'a=f16[64x64]:randn(0)' --arg 'b=f16[64x64]:randn(1)' --arg 'c=f16[64x64]:zeros' \
  --arg M=64 --arg N=64 --arg K=64 --arg a_stride=64 --arg b_stride=64 --arg c_stride=64 --grid 'cdiv(M,BLOCK_M)*cdiv(N,BLOCK_N)' \
  --space 'BLOCK_M=16,32,BLOCK_N=16,32,BLOCK_K=32,64' --candidates 5 --flops 524288
has out 'TFLOP/s'
has out '5 of 8 configurations measured'
has out 'untried  3'
has matmul.tune.json '"key": {"K": 64, "M": 64, "N": 64}' # what @autotune names
