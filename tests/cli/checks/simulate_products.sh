# SPDX-License-Identifier: Apache-2.0
# Products by wgmma in the simulator, with all checks, against the CPU: several accumulators of a loop in
# flight at once, more than the compiler leaves in flight, and operands of 8 and 32 bits.

cat > several.tile << 'TILE'
@jit
def several(a: ptr[f16] % 16, b: ptr[f16] % 16, out: ptr[f32] % 16, K: i32 % 16, N: constexpr):
    m = arange(0, 64)
    n = arange(0, 16)
    k = arange(0, 32)
    p = zeros([64, 16], f32)
    q = zeros([64, 16], f32)
    r = zeros([64, 16], f32)
    s = zeros([64, 16], f32)
    t = zeros([64, 16], f32)
    for i in range(0, K, 32):
        x = load(a + m[:, None] * K + i + k[None, :])
        w = b + (i + k[:, None]) * 80 + n[None, :]
        p = dot(x, load(w), p)
        if N > 1:
            q = dot(x, load(w + 16), q)
            r = dot(x, load(w + 32), r)
        if N > 3:
            s = dot(x, load(w + 48), s)
            t = dot(x, load(w + 64), t)
    o = out + m[:, None] * 80 + n[None, :]
    store(o, p)
    store(o + 16, q)
    store(o + 32, r)
    store(o + 48, s)
    store(o + 64, t)
TILE
cat > narrow.tile << 'TILE'
@jit
def narrow(a, b, out, K: i32 % 16, KB: constexpr):
    m = arange(0, 64)
    n = arange(0, 32)
    k = arange(0, KB)
    acc = zeros([64, 32], out.dtype.element_ty)
    for s in range(0, K, KB):
        x = load(a + m[:, None] * K + s + k[None, :])
        y = load(b + n[None, :] * K + s + k[:, None])
        acc = dot(x, y, acc, input_precision="tf32")
    store(out + m[:, None] * 32 + n[None, :], acc)
TILE
# 8-bit floats: a tail of K, and A as it is or computed in registers.
cat > bytes.tile <<'TILE'
@jit
def bytes(a, b, out, K: i32 % 16, MAX: constexpr = None, SCALED: constexpr = False):
    m = arange(0, 64)
    n = arange(0, 32)
    k = arange(0, 64)
    acc = zeros([64, 32], out.dtype.element_ty)
    for s in range(0, K, 64):
        x = load(a + m[:, None] * K + s + k[None, :], mask=s + k[None, :] < K, other=0)
        y = load(b + n[None, :] * K + s + k[:, None], mask=s + k[:, None] < K, other=0)
        if SCALED:
            x = (x.to(f16) * 2).to(x.dtype)
        acc = dot(x, y, acc, max_num_imprecise_acc=MAX)
    store(out + m[:, None] * 32 + n[None, :], acc)
TILE
# Copies in front of the product and behind it.
cat > mixed.tile << 'TILE'
@jit
def mixed(a: ptr[f16] % 16, b: ptr[f16] % 16, c: ptr[f32] % 16, table: ptr[i32], out: ptr[f32] % 16, K: i32 % 16):
    m = arange(0, 64)
    k = arange(0, 32)
    acc = zeros([64, 64], f32)
    total = zeros([64, 32], f32)
    for i in tl.range(0, K, 32):
        at = load(table + 4 - i // 32) * 32
        x = load(a + m[:, None] * K + at + k[None, :])
        y = load(b + (at + k[:, None]) * 64 + m[None, :])
        z = load(c + m[:, None] * K + i + k[None, :])
        acc = dot(x, y, acc)
        total += z * i
    store(out + m[:, None] * 96 + m[None, :], acc)
    store(out + m[:, None] * 96 + 64 + k[None, :], total)
TILE

agree() { # agree NAME FILE INSTRUCTION ARGUMENTS...
  local name=$1 file=$2 instruction=$3
  shift 3
  check "simulated: $name on the CPU" 0 'out' --run "$file" --target cpu --check --grid 1 --out out=@products.npy "$@"
  check "simulated: $name" 0 'out +as expected: ' --run "$file" --target sm_90a --simulate --check --grid 1 --expect out=@products.npy --rtol 1e-4 --atol ${atol:-1e-3} "$@"
  check "wgmma: $name" 0 "$instruction" --run "$file" --target sm_90a --simulate --grid 1 --explain-perf "$@"
}

for accumulators in 1 3 5; do
  for stages in 2 3 4; do
    agree "$accumulators products, $stages stages" several.tile 'wgmma.m64n16k16' -D N=$accumulators --num-stages $stages --arg 'a=f16[64x160]:rand(1)' \
      --arg 'b=f16[160x80]:rand(2)' --arg 'out=f32[64x80]:zeros' --arg K=160
  done
done
agree "products of i8" narrow.tile 'wgmma.m64n32k32' -D KB=64 --arg 'a=i8[64x256]:rand(1,-9,9)' --arg 'b=i8[32x256]:rand(2,-9,9)' \
  --arg 'out=i32[64x32]:zeros' --arg K=256
agree "products of tf32" narrow.tile 'wgmma.m64n32k8' -D KB=32 --arg 'a=f32[64x160]:rand(1)' --arg 'b=f32[32x160]:rand(2)' \
  --arg 'out=f32[64x32]:zeros' --arg K=160
for stages in 1 2 3 4; do
  for bound in None 64 32; do
    for scaled in False True; do
      agree "products of fp8, $stages stages, bound $bound, A computed: $scaled" bytes.tile 'wgmma.m64n32k32' --num-stages $stages \
        -D MAX=$bound -D SCALED=$scaled --arg 'a=fp8e4nv[64x208]:rand(1,-4,4)' --arg 'b=fp8e5[32x208]:rand(2,-4,4)' --arg 'out=f32[64x32]:zeros' --arg K=208
    done
  done
done
bytes() { # bytes A B SUM
  agree "products of $1 and $2 in $3" bytes.tile 'wgmma.m64n32k32' --arg "a=$1[64x208]:rand(1,-1,1)" --arg "b=$2[32x208]:rand(2,-1,1)" \
    --arg "out=$3[64x32]:zeros" --arg K=208
}
bytes fp8e4nv fp8e4nv f32
bytes fp8e5 fp8e5 f32
bytes fp8e5 fp8e4nv f32
atol=0.03 bytes fp8e5 fp8e4nv f16 # rounded once for 16 of K on the CPU, for 32 by wgmma
for stages in 2 3 5; do
  agree "copies on both sides of the product, $stages stages" mixed.tile 'wgmma.m64n64k16' --num-stages $stages --arg 'a=f16[64x160]:rand(1)' \
    --arg 'b=f16[160x64]:rand(2)' --arg 'c=f32[64x160]:rand(3)' --arg table='i32[5]:iota' --arg 'out=f32[64x96]:zeros' --arg K=160
done
# The same product with a producer warpgroup and without it.
tiles=(-D BLOCK_M=64 -D BLOCK_N=64 -D BLOCK_K=64 --num-warps 4 --arg 'a=f16[128x192]:rand(0)' --arg 'b=f16[192x128]:rand(1)'
  --arg 'c=f16[128x128]:zeros' --arg M=128 --arg N=128 --arg K=192 --arg a_stride=192 --arg b_stride=128 --arg c_stride=128 --grid 2)
persistent="$root/tutorials/09-persistent-matmul/persistent.tile"
check "persistent tiles on the CPU" 0 '!error' --run "$persistent" --target cpu "${tiles[@]}" --out c=@tiles.npy
for choice in on off; do
  check "persistent tiles, --warp-specialize $choice" 0 'c +as expected' --run "$persistent" --simulate --check --target sm_90a --warp-specialize $choice "${tiles[@]}" --expect c=@tiles.npy --rtol 1e-3
done
# f32 products without tensor cores that share operands: each reads them from the copies in shared memory, in every iteration.
cat > shared.tile <<'TILE'
@jit
def shared(x: ptr[f32] % 16, y: ptr[f32] % 16, out: ptr[f32], n: i32, S: constexpr = 32):
    i = arange(0, S)[:, None]
    j = arange(0, S)[None, :]
    state = zeros((S, S), f32)
    total = zeros((S, S), f32)
    for t in range(n):
        a = load(x + t * S * S + i * S + j)
        b = load(y + t * S * S + i * S + j)
        state = dot(dot(a, b, input_precision="ieee"), state + a, input_precision="ieee") * 0.1
        total += dot(trans(state), b, input_precision="ieee")
    store(out + i * S + j, total)
TILE
shared=(--arg 'x=f32[5x32x32]:rand(1,-0.4,0.4)' --arg 'y=f32[5x32x32]:rand(2,-0.4,0.4)' --arg 'out=f32[32x32]:zeros' --arg n=5 --grid 1)
check "products that share operands, on the CPU" 0 '!error' --run shared.tile --target cpu "${shared[@]}" --out out=@shared.npy
for stages in 1 2 3; do
  check "products that share operands, $stages stages" 0 'out +as expected' --run shared.tile --simulate --check --target sm_80 --num-stages $stages "${shared[@]}" \
    --expect out=@shared.npy --atol 1e-4
done
