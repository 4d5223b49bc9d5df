# SPDX-License-Identifier: Apache-2.0
# Attention of a few queries in the simulator: grouped heads as rows of one block, keys split over programs whose parts the last
# program, or a second kernel, merges.

# simulated NAME PATTERN [ARG...]: the kernel of graph.py matches; its results are right, with all checks.
simulated() {
  name=$1 pattern=$2
  shift 2
  for target in sm_90a sm_80; do
    check "$name: its kernel for $target" 0 "$pattern" --graph graph.py --target $target --emit=tile
    check "$name: simulated $target" 0 'checked +against the reference interpreter' --graph graph.py --run --target $target --simulate --check "$@"
  done
}

# attention HEADS KEY_HEADS QUERIES KEYS DEPTH [MASK_TYPE [CAUSAL]]
attention() {
  mask= value=None
  [ -z "${6:-}" ] || mask=", mask: \"$6\"" value=mask
  cat > graph.py << GRAPH
def forward(self, q: "f16[2, $1, $3, $5]", k: "f16[2, $2, $4, $5]", v: "f16[2, $2, $4, $5]"$mask):
    a = torch.ops.aten.scaled_dot_product_attention.default(q, k, v, $value, 0.0, ${7:-False}, enable_gqa = True)
    return (a,)
GRAPH
}

merged='^def [a-z_]*attention_merge\('
attention 6 2 1 1450 64
simulated "three heads a group" "$merged
mask=\(m < 3\)"
attention 6 3 3 990 48
simulated "three queries, rows in the order of queries" "$merged
m % 2
m // 2"
attention 4 4 1 800 64 'b8[2, 1, 1, 800]'
simulated "a boolean mask, no groups" "$merged
tl.where\(total > 0, total, 1.0\)"
attention 4 2 2 520 64 'f16[2, 4, 2, 520]'
simulated "an added mask" "$merged
keep = tl.exp\(top - base\)"
attention 4 1 5 1200 64 '' True
simulated "causal, four heads a group" "$merged
end = min\("
attention 2 2 1 9000 16
simulated "many parts" 'for part in tl.range\(0, [0-9]+, loop_unroll_factor=8\)'

cat > graph.py << 'GRAPH'
def forward(self, s0: "Sym(s0)", q: "bf16[s0, 4, 1, 64]", k: "bf16[s0, 2, 700, 64]", v: "bf16[s0, 2, 700, 64]"):
    a = torch.ops.aten.scaled_dot_product_attention.default(q, k, v, None, 0.0, False, enable_gqa = True)
    return (a,)
GRAPH
check "symbolic batch: merged by a second kernel" 0 '^def attention_parts\(
^def attention_merge\(' --graph graph.py --target sm_90a --emit=tile --arg s0=3
check "symbolic batch: simulated" 0 'checked +against the reference interpreter' --graph graph.py --run --target sm_90a --simulate --check --arg s0=3

cat > graph.py << 'GRAPH'
def forward(self, q: "f16[1, 3, 2, 64]", k: "f16[1, 3, 600, 64]", v: "f16[1, 3, 600, 64]"):
    r = torch.ops.aten._scaled_dot_product_flash_attention.default(q, k, v)
    a = r[0]
    l = r[1]
    return (a, l)
GRAPH
simulated "with logsumexp" "$merged
lse = \(\(top \+ tl.log2\(total\)\) \* 0.69314718"

# ---- written out: both products have one row ----

cat > graph.py << 'GRAPH'
def forward(self, q: "bf16[2, 6, 1, 64]", k: "bf16[2, 3, 1300, 64]", v: "bf16[2, 3, 1300, 64]", n: "i64[2, 1, 1, 1]"):
    kr = torch.ops.aten.unsqueeze.default(k, 2)
    ke = torch.ops.aten.expand.default(kr, [2, 3, 2, 1300, 64])
    kv = torch.ops.aten.reshape.default(ke, [2, 6, 1300, 64])
    vr = torch.ops.aten.unsqueeze.default(v, 2)
    ve = torch.ops.aten.expand.default(vr, [2, 3, 2, 1300, 64])
    vv = torch.ops.aten.reshape.default(ve, [2, 6, 1300, 64])
    kt = torch.ops.aten.permute.default(kv, [0, 1, 3, 2])
    s = torch.ops.aten.matmul.default(q, kt)
    t = torch.ops.aten.mul.Tensor(s, 0.17)
    c = torch.ops.aten.div.Tensor(t, 30.0)
    h = torch.ops.aten.tanh.default(c)
    u = torch.ops.aten.mul.Tensor(h, 30.0)
    j = torch.ops.aten.arange.default(1300)
    b = torch.ops.aten.le.Tensor(j, n)
    w = torch.ops.aten.where.ScalarOther(b, u, -3.3895313892515355e+38)
    f = torch.ops.aten._to_copy.default(w, dtype = torch.float32)
    p = torch.ops.aten._softmax.default(f, -1, False)
    g = torch.ops.aten._to_copy.default(p, dtype = torch.bfloat16)
    o = torch.ops.aten.matmul.default(g, vv)
    x = torch.ops.aten.transpose.int(o, 1, 2)
    y = torch.ops.aten.reshape.default(x, [2, 1, 384])
    return (y,)
GRAPH
simulated "written out, one query, soft caps and lengths" "$merged"
