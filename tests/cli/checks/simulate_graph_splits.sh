# SPDX-License-Identifier: Apache-2.0
# Products of graphs in the simulator: batches by descriptors, blocks of a persistent kernel that are split along k, and products
# whose rows are no multiples of 16 bytes.

# simulated NAME PATTERN: the kernel of graph.py matches; its results are right, with all checks.
simulated() {
  check "$1: its kernel" 0 "$2" --graph graph.py --target sm_90a --emit=tile
  check "$1: simulated" 0 'checked +against the reference interpreter' --graph graph.py --run --target sm_90a --simulate --check
}

# ---- batches ----

cat > graph.py << 'GRAPH'
def forward(self, x: "f16[9, 200, 136]", w: "f16[9, 136, 264]", r: "f16[9, 200, 264]"):
    p = torch.ops.aten.bmm.default(x, w)
    q = torch.ops.aten.add.Tensor(p, r)
    return (q,)
GRAPH
simulated "batches with a residual" 'a_tiles.load\(\[batch, m_first, k0\]\).reshape\(BLOCK_M, BLOCK_K\)
b_tiles.load\(\[batch, k0, n_first\]\).reshape\(BLOCK_K, BLOCK_N\)$
residual_tiles.load\(\[batch, m_first, n_first\]\)
out0_tiles.store\(\[batch, '
cat > graph.py << 'GRAPH'
def forward(self, x: "bf16[3, 136, 5, 256]", w: "bf16[3, 264, 5, 136]"):
    y = torch.ops.aten.permute.default(x, [0, 2, 3, 1])
    v = torch.ops.aten.permute.default(w, [0, 2, 3, 1])
    p = torch.ops.aten.matmul.default(y, v)
    return (p,)
GRAPH
simulated "heads, both operands transposed" 'a_tiles.load\(\[batch // 5, batch % 5, k0, m_first\]\).reshape\(BLOCK_K, BLOCK_M\).T$
b_tiles.load\(\[batch // 5, batch % 5, n_first, k0\]\).reshape\(BLOCK_N, BLOCK_K\).T$'
cat > graph.py << 'GRAPH'
def forward(self, x: "f16[264, 136]", w: "f16[16, 136, 264]"):
    u = torch.ops.aten.unsqueeze.default(x, 0)
    y = torch.ops.aten.expand.default(u, [16, 264, 136])
    p = torch.ops.aten.bmm.default(y, w)
    return (p,)
GRAPH
simulated "one operand for all batches" 'a_tiles.load\(\[m_first, k0\]\)$
b_tiles.load\(\[batch, k0, n_first\]\)'

# ---- split blocks ----

cat > graph.py << 'GRAPH'
def forward(self, x: "f16[200, 3080]", w: "f16[3080, 392]"):
    p = torch.ops.aten.mm.default(x, w)
    return (p,)
GRAPH
simulated "few blocks, long k" 'done = tl.atomic_add'
cat > graph.py << 'GRAPH'
def forward(self, x: "bf16[264, 2056]", w: "bf16[400, 2056]", b: "bf16[400]", r: "bf16[264, 400]", big: "f32[4096, 2048]"):
    v = torch.ops.aten.permute.default(w, [1, 0])
    p = torch.ops.aten.addmm.default(b, x, v)
    g = torch.ops.aten.gelu.default(p)
    q = torch.ops.aten.add.Tensor(g, r)
    e = torch.ops.aten.exp.default(big)
    s = torch.ops.aten.sum.default(e)
    return (q, s)
GRAPH
simulated "an epilogue behind the sum of parts" 'done = tl.atomic_add
if done:'
cat > graph.py << 'GRAPH'
class <lambda>(torch.nn.Module):
    def forward(self, s0: "Sym(s0)", x: "f16[s0, 4096]", w: "f16[4096, 256]"):
        p = torch.ops.aten.mm.default(x, w)
        return (p,)
GRAPH
for rows in 1 200 1040; do
  check "a split product of $rows rows: simulated" 0 'checked +against' --graph graph.py --run --target sm_90a --simulate --check --arg s0=$rows
done

# ---- odd sizes, in all orders ----

for order in '0, 1;0, 1' '1, 0;0, 1' '0, 1;1, 0' '1, 0;1, 0'; do
  for size in '131 141 97' '130 129 32' '129 136 40'; do
    set -- $size
    x="$1, $3" w="$3, $2"
    [ "${order%;*}" = '1, 0' ] && x="$3, $1"
    [ "${order#*;}" = '1, 0' ] && w="$2, $3"
    cat > graph.py << GRAPH
def forward(self, x: "f16[$x]", w: "f16[$w]"):
    y = torch.ops.aten.permute.default(x, [${order%;*}])
    v = torch.ops.aten.permute.default(w, [${order#*;}])
    p = torch.ops.aten.mm.default(y, v)
    return (p,)
GRAPH
    check "$size in the order $order: simulated" 0 'checked +against' --graph graph.py --run --target sm_90a --simulate --check
    check "$size in the order $order: on the CPU" 0 'checked +against' --graph graph.py --run --target cpu --check
  done
done

# ---- a number of batches, and of rows, that the launch gives ----

cat > graph.py << 'GRAPH'
class <lambda>(torch.nn.Module):
    def forward(self, s0: "Sym(s0)", s1: "Sym(s1)", x: "f16[s0, s1, 136]", w: "f16[s0, 264, 136]"):
        v = torch.ops.aten.permute.default(w, [0, 2, 1])
        p = torch.ops.aten.bmm.default(x, v)
        return (p,)
GRAPH
check "batches of symbolic sizes: simulated" 0 'checked +against' --graph graph.py --run --target sm_90a --simulate --check --arg s0=3 --arg s1=137
