# SPDX-License-Identifier: Apache-2.0
# The cache: the second run uses it; damaged entries and an unusable cache folder are tolerated.
run=(tilec --run "$ADD" --target cpu --arg 'x=f32[8]:ones' --arg 'y=f32[8]:ones' --arg 'out=f32[8]:zeros' --arg n=8 --grid 1)
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

# Imported files are part of the key, like the kernel's own text.
export TILE_CACHE_DIR=$PWD/imports
mkdir first second
printf 'from sign import f\n\n@jit\ndef k(x: ptr[f32]):\n  store(x, f(load(x)))\n' > k.tile
printf '@jit\ndef f(x):\n  return -x\n' > second/sign.py
run=(tilec --run k.tile --target cpu --arg 'x=f32[1]:ones' --grid 1 -I first -I second)
status 0 "${run[@]}" --out x=@x.npy
has out 'compiled'
status 0 "${run[@]}"
has out 'from the cache'
printf '@jit\ndef f(x):\n  return x * 5\n' > second/sign.py
status 0 "${run[@]}"
has out 'compiled'
status 0 "${run[@]}"
has out 'from the cache'
cp second/sign.py first # found before the other
status 0 "${run[@]}"
has out 'compiled'
status 0 "${run[@]}"
has out 'from the cache'
rm first/sign.py second/sign.py
status 1 "${run[@]}"
