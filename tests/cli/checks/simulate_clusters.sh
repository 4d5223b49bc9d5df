# SPDX-License-Identifier: Apache-2.0
# Clusters in the simulator, with all checks, against the CPU: products whose neighbouring programs share blocks, in a grid of two
# dimensions and by groups of rows in a persistent kernel, also where the launch cannot have clusters or must not share.

cat > pairs.tile << 'TILE'
@jit
def pairs(a: const_ptr[f16] % 16, b: const_ptr[f16] % 16, out: ptr[f16] % 16, M: i32, N: i32 % 16, K: i32 % 16, SWAP: constexpr = False, BN: constexpr = 64):
    m, n = program_id(0), program_id(1)
    if SWAP:
        m, n = n, m
    x = tl.make_tensor_descriptor(a, [M, K], [K, 1], [64, 64])
    y = tl.make_tensor_descriptor(b, [K, N], [N, 1], [64, BN])
    o = tl.make_tensor_descriptor(out, [M, N], [N, 1], [64, BN])
    acc = zeros([64, BN], f32)
    for k in range(0, cdiv(K, 64)):
        acc = dot(x.load([m * 64, k * 64]), y.load([k * 64, n * BN]), acc)
    o.store([m * 64, n * BN], acc.to(f16))
TILE
cat > grouped.tile << 'TILE'
@jit
def grouped(a: const_ptr[f16] % 16, b: const_ptr[f16] % 16, out: ptr[f16] % 16, M: i32, N: i32 % 16, K: i32 % 16):
    x = tl.make_tensor_descriptor(a, [M, K], [K, 1], [64, 64])
    y = tl.make_tensor_descriptor(b, [K, N], [N, 1], [64, 64])
    o = tl.make_tensor_descriptor(out, [M, N], [N, 1], [64, 64])
    m, n = cdiv(M, 64), cdiv(N, 64)
    for tile in tl.range(program_id(0), m * n, 4):
        first = tile // (4 * n) * 4
        size = min(m - first, 4)
        i = (first + tile % (4 * n) % size) * 64
        j = tile % (4 * n) // size * 64
        acc = zeros([64, 64], f32)
        for k in range(0, cdiv(K, 64)):
            acc = dot(x.load([i, k * 64]), y.load([k * 64, j]), acc)
        o.store([i, j], acc.to(f16))
TILE

# agree NAME FILE ROWS COLUMNS DEPTH GRID LOADED [OPTION...]: 1, 2 and 4 programs in a cluster; LOADED: what --explain-perf says for 2
agree() {
  local name=$1 file=$2 rows=$3 columns=$4 depth=$5 grid=$6 loaded=$7 ctas
  shift 7
  local arguments=(--arg "a=f16[${rows}x$depth]:rand(1)" --arg "b=f16[${depth}x$columns]:rand(2)" --arg "out=f16[${rows}x$columns]:zeros"
                   --arg M=$rows --arg N=$columns --arg K=$depth --grid "$grid" "$@")
  check "clusters: $name on the CPU" 0 'out' --run "$file" --target cpu --num-ctas 2 --out out=@products.npy "${arguments[@]}"
  for ctas in 1 2 4; do
    check "clusters: $name, $ctas programs" 0 'out +as expected: ' --run "$file" --target sm_90a --simulate --check --num-ctas $ctas \
      --expect out=@products.npy --rtol 2e-3 --atol 2e-2 "${arguments[@]}"
  done
  check "clusters: $name, what is shared" 0 "$loaded" --run "$file" --target sm_90a --simulate --num-ctas 2 --explain-perf "${arguments[@]}"
}

agree "columns" pairs.tile 256 64 320 4,1 'loaded once for 2 programs \[clusters\]'
agree "rows" pairs.tile 128 256 128 4,2 'loaded once for 2 programs \[clusters\]' -D SWAP=True
agree "two strips of B" pairs.tile 256 128 128 4,1 'loaded once for 2 programs' -D BN=128 # LBO of the descriptor counts
agree "edges" pairs.tile 200 80 208 4,2 'loaded once for 2 programs'
agree "a grid of no whole clusters" pairs.tile 192 64 192 3,1 'loaded once for 2 programs'
agree "8 warps" pairs.tile 256 64 192 4,1 'clusters' --num-warps 8
agree "groups of rows" grouped.tile 256 192 192 4 'if their numbers of blocks are multiples'
agree "groups of an odd number of rows" grouped.tile 192 128 192 4 'if their numbers of blocks are multiples'
check "clusters: three programs" 2 'must be a power of two \[E0702\]' pairs.tile --num-ctas 3
check "clusters: too many programs" 2 'E0702' pairs.tile --num-ctas 32
check "clusters: an older GPU" 0 'the target has no clusters' pairs.tile --target sm_80 --num-ctas 2 --explain-perf -o old.ptx
