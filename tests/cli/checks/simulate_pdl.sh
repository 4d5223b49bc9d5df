# SPDX-License-Identifier: Apache-2.0
# Kernels that wait for the grid in front of them, in the simulator with all checks: inserted waits, and
# a wait of the source in a kernel whose loads another warp issues.

cat > waits.tile << 'TILE'
@jit
def scaled(x: ptr[f32], out: ptr[f32], n: i32):
    i = program_id(0) * 64 + arange(0, 64)
    if program_id(0) * 64 >= n:
        return
    store(out + i, load(x + i, mask=i < n) * 2, mask=i < n)


@jit
def product(a: ptr[f16], b: ptr[f16], out: ptr[f32], K: i32 % 16, OWN: constexpr):
    x = make_tensor_descriptor(a, [64, K], [K, 1], [64, 64])
    y = make_tensor_descriptor(b, [64, K], [K, 1], [64, 64])
    if OWN:
        extra.cuda.gdc_wait()
    m = arange(0, 64)
    acc = zeros([64, 64], f32)
    for i in range(0, K, 64):
        acc = dot(x.load([0, i]), y.load([0, i]).T, acc)
    if OWN:
        extra.cuda.gdc_launch_dependents()
    store(out + m[:, None] * 64 + m[None, :], acc)
TILE
for target in sm_80 sm_90a sm_100a; do
  check "a kernel with --launch-pdl, simulated for $target" 0 'out.*max 198
!error' --run waits.tile --kernel scaled --simulate --check --launch-pdl --target $target --arg 'x=f32[100]:iota' \
    --arg 'out=f32[100]:zeros' --arg n=100 --grid 3
done
operands=(--arg 'a=f16[64x256]:rand(0)' --arg 'b=f16[64x256]:rand(1)' --arg 'out=f32[64x64]:zeros' --arg K=256 --grid 1)
check "the product on the CPU" 0 '!error' --run waits.tile --kernel product --target cpu -D OWN=False "${operands[@]}" --out out=@product.npy
for own in False True; do
  check "a product with a producer that waits, OWN=$own" 0 'out +as expected' --run waits.tile --kernel product --simulate --check --launch-pdl \
    --target sm_90a -D OWN=$own "${operands[@]}" --expect out=@product.npy --rtol 1e-3
done
