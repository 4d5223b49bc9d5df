# SPDX-License-Identifier: Apache-2.0
# The cache: used the second time, survived when damaged, done without when it cannot be used.
run=(tilec --run "$ADD" --target host --arg 'x=f32[8]:ones' --arg 'y=f32[8]:ones' --arg 'out=f32[8]:zeros' --arg n=8 --grid 1)
export TILE_CACHE_DIR=$PWD/cache
status 0 "${run[@]}"
has out 'compiled'
status 0 "${run[@]}"
has out 'from the cache'
find cache -type f ! -name CACHEDIR.TAG -exec sh -c 'printf x | dd of="$1" bs=1 seek=200 conv=notrunc 2> /dev/null' _ {} \;
status 0 "${run[@]}"
has out 'compiled'
export TILE_CACHE_DIR=$PWD/readonly
mkdir readonly && chmod 500 readonly
status 0 "${run[@]}"
export TILE_CACHE_DIR=/proc/nowhere
status 0 "${run[@]}"
has out 'compiled'
