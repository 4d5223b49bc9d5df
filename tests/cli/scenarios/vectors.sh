# SPDX-License-Identifier: Apache-2.0
# On the CPU kernels are loops over vectors, with --check threads that access memory one by one: the
# results are the same, bit for bit, where the order of operations is.
both() {
  local name=$1 outs=$2 out
  shift 2
  for how in '' --check; do
    local args=()
    for out in $outs; do args+=(--out "$out=@$out$how.npy"); done
    status 0 tilec --run "$HERE/vectors.tile" --kernel "$name" --target cpu --explain-perf "${args[@]}" "$@" $how
    lacks err 'thread by thread'
  done
  for out in $outs; do cmp "$out.npy" "$out--check.npy" || { echo "$name: $out differs"; exit 1; }; done
}

for BLOCK in 8 64 512; do
  n=$((BLOCK - BLOCK / 3))
  both shift x --arg "x=f32[$BLOCK]:iota" --arg n=$n -D BLOCK=$BLOCK --grid 1
  both fibonacci out --arg "x=i32[$BLOCK]:iota" --arg "out=i32[$BLOCK]:zeros" --arg n=$n -D BLOCK=$BLOCK --grid 1
  both control out --arg "x=i32[$BLOCK]:iota" --arg "out=i32[$((3 * BLOCK))]:zeros" --arg n=$n -D BLOCK=$BLOCK --grid 1
done
for shape in '1 16' '16 1' '32 8' '8 128' '64 64'; do
  read -r M N <<< "$shape"
  both both_ways 'out total' --arg "x=f32[$((M * N))]:randn(3)" --arg "out=f32[$((M * N))]:zeros" --arg "total=f32[$((M + N))]:zeros" \
    -D M=$M -D N=$N --grid 1
done
for n in 1 37 1000; do
  both mixed 'out rest' --arg "x=bf16[$n]:randn(5)" --arg "q=i8[$n]:iota" --arg "out=bf16[$n]:zeros" --arg "rest=i32[$n]:zeros" \
    --arg n=$n --arg d=$((n % 9 - 4)) -D BLOCK=256 --grid 'cdiv(n,BLOCK)'
done

# On a processor without vectors of 64 bytes too: the names are LLVM's.
[ "$(uname -m)" != x86_64 ] || TILE_CPU_NAME=x86-64-v3 both mixed 'out rest' --arg 'x=bf16[99]:randn(5)' --arg 'q=i8[99]:iota' --arg 'out=bf16[99]:zeros' \
  --arg 'rest=i32[99]:zeros' --arg n=99 --arg d=7 -D BLOCK=64 --grid 'cdiv(n,BLOCK)'

both add_halves 'x y' --arg 'x=f16[64]:zeros' --arg 'y=bf16[5]:zeros' -D BLOCK=128 --grid 3

# A kernel that is not offered in vectors says why, and where, and runs all the same.
status 0 tilec --run "$HERE/vectors.tile" --kernel show --target cpu --explain-perf --arg 'x=f32[1]:fill(3)' --grid 1
has err 'vectors.tile:73:'
has err 'runs thread by thread, not in vectors: `tile.print`'
