# SPDX-License-Identifier: Apache-2.0
# Pictures of --explain-perf and --explain-fusion, beside their text.
well_formed() { ! command -v xmllint > /dev/null || xmllint --noout "$1" || exit 1; }
status 0 tilec "$ADD" --target sm_90a --explain-perf --svg bounds.svg
has out 'a program reads'
has bounds.svg 'add for sm_90a: limited by memory, else by L2 cache'
well_formed bounds.svg
cat > product.tile <<'END'
@jit
def product(a: ptr[f16] % 16, b: ptr[f16] % 16, c: ptr[f32] % 16, N: constexpr = 64, K: constexpr = 64):
  i = arange(0, N)
  k = arange(0, K)
  x = load(a + i[:, None] * K + k[None, :])
  y = load(b + k[:, None] * N + i[None, :])
  store(c + i[:, None] * N + i[None, :], dot(x, y))
END
status 0 tilec product.tile --target sm_80 --explain-perf --json --svg product.svg
has product.svg 'matrix instructions: 312 Top/s'
has product.svg 'predicted, all programs alike'
well_formed product.svg

cat > softmax.py <<'END'
def forward(self, x: "f32[64, 32]"):
    amax: "f32[64, 1]" = torch.ops.aten.amax.default(x, [1], True)
    sub: "f32[64, 32]" = torch.ops.aten.sub.Tensor(x, amax);  x = amax = None
    exp: "f32[64, 32]" = torch.ops.aten.exp.default(sub);  sub = None
    sum_1: "f32[64, 1]" = torch.ops.aten.sum.dim_IntList(exp, [1], True)
    div: "f32[64, 32]" = torch.ops.aten.div.Tensor(exp, sum_1);  exp = sum_1 = None
    return (div,)
END
status 0 tilec --graph softmax.py --explain-fusion --svg fused.svg
has out 'amax_sub_exp_sum_div'
has fused.svg '3 loop nests in 1 kernel, 0 values between them'
well_formed fused.svg

status 73 tilec "$ADD" --target sm_90a --explain-perf --svg no/such/folder.svg
status 73 tilec --graph softmax.py --explain-fusion --svg no/such/folder.svg
