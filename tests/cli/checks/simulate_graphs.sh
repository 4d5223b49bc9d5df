# SPDX-License-Identifier: Apache-2.0
# Products of graphs in the simulator: operands and results through tensor descriptors, persistent programs.

# product NAME PATTERN ROWS_OF_A COLUMNS_OF_A A ROWS_OF_B COLUMNS_OF_B B M N LINES: a graph that multiplies `A` and `B`, and what follows.
product() {
  local name=$1 pattern=$2
  cat > product.py <<GRAPH
def forward(self, x: "$3", w: "$4", b: "$5", r: "$6"):
    y = torch.ops.aten.permute.default(x, [$7])
    v = torch.ops.aten.permute.default(w, [$8])
    p = torch.ops.aten.mm.default(y, v)
$9
    return (q,)
GRAPH
  check "$name: its kernel" 0 "$pattern" --graph product.py --target sm_90a --emit=tile
  check "$name: simulated" 0 'checked +against the reference interpreter' --graph product.py --run --target sm_90a --simulate --check
}

product "rows and columns beyond the end" 'a_tiles.load\(\[m_first, k0\]\)$
b_tiles.load\(\[k0, n_first\]\)$
out0_tiles.store' 'f16[450, 136]' 'f16[136, 1000]' 'f16[1000]' 'f16[450, 1000]' '0, 1' '0, 1' '    q = torch.ops.aten.add.Tensor(p, b)'
product "both transposed, with a residual" 'a_tiles.load\(\[k0, m_first\]\).T$
b_tiles.load\(\[n_first, k0\]\).T$
tile = residual_tiles.load' 'bf16[72, 1160]' 'bf16[1032, 72]' 'bf16[1032]' 'bf16[1160, 1032]' '1, 0' '1, 0' '    q = torch.ops.aten.add.Tensor(p, r)'
product "a result in another order" 'tl.store\(out0' 'f16[520, 64]' 'f16[1016, 64]' 'f16[1016]' 'f16[520, 1016]' '0, 1' '1, 0' \
  '    o = torch.ops.aten.permute.default(p, [1, 0])
    q = torch.ops.aten.clone.default(o, memory_format = torch.contiguous_format)'
product "one row too short for a descriptor" '!_tiles' 'f16[450, 132]' 'f16[132, 1000]' 'f16[1000]' 'f16[450, 1000]' '0, 1' '0, 1' \
  '    q = torch.ops.aten.relu.default(p)'

cat > pair.py <<'GRAPH'
def forward(self, x: "f16[1300, 192]", g: "f16[1032, 192]", u: "f16[1032, 192]"):
    a = torch.ops.aten.permute.default(g, [1, 0])
    b = torch.ops.aten.mm.default(x, a)
    c = torch.ops.aten.silu.default(b)
    d = torch.ops.aten.permute.default(u, [1, 0])
    e = torch.ops.aten.mm.default(x, d)
    f = torch.ops.aten.mul.Tensor(c, e)
    return (f, e)
GRAPH
check "two products with a common operand: their kernel" 0 'a0_tiles
b1_tiles
acc1 = tl.dot\(a0, b1, acc1\)
out1_tiles.store' --graph pair.py --target sm_90a --emit=tile
check "two products with a common operand: simulated" 0 'checked +against' --graph pair.py --run --target sm_90a --simulate --check
cat > sized.py <<'GRAPH'
class <lambda>(torch.nn.Module):
    def forward(self, s0: "Sym(s0)", x: "f16[s0, 1536]", w: "f16[512, 1024]"):
        y = torch.ops.aten.slice.Tensor(x, 1, 1024, 1536)
        p = torch.ops.aten.mm.default(y, w)
        return (p,)
GRAPH
for rows in 1 129 700; do
  check "a part of a matrix of $rows rows: simulated" 0 'checked +against' --graph sized.py --run --target sm_90a --simulate --check --arg s0=$rows
done

# attention NAME PATTERN INPUTS CALL LINES: keys and values by descriptors, 128 columns.
attention() {
  cat > attention.py <<GRAPH
def forward(self, $3):
$5
    o = torch.ops.aten.scaled_dot_product_attention.default($4)
    return (o,)
GRAPH
  check "attention, $1: its kernel" 0 "$2" --graph attention.py --target sm_90a --emit=tile
  check "attention, $1: simulated" 0 'checked +against' --graph attention.py --run --target sm_90a --simulate --check
}
attention "whole rows" 'k_row = batch \* 128$
k_column = 0$' 'q: "f16[3, 45, 72, 128]", k: "f16[3, 45, 128, 128]", v: "f16[3, 45, 128, 128]"' 'q, k, v' ''
attention "grouped heads, causal" 'v_row = batch // 5 \* 128$' 'q: "bf16[9, 15, 128, 128]", k: "bf16[9, 3, 128, 128]", v: "bf16[9, 3, 128, 128]"' \
  'q, k, v, None, 0.0, True, scale = 0.05, enable_gqa = True' ''
attention "heads side by side in one buffer" 'make_tensor_descriptor\(in0, \[5888, 1152\], \[1152, 1\], \[BLOCK_N, 128\]\)$
k_row = batch // 3 \* 128$
k_column = batch % 3 \* 128 \+ 384$' 'x: "bf16[46, 128, 1152]"' 'q, k, v, None, 0.0, True' '    s = torch.ops.aten.split.Tensor(x, 384, 2)
    a = s[0]
    b = s[1]
    c = s[2]
    d = torch.ops.aten.view.default(a, [46, 128, 3, 128])
    e = torch.ops.aten.view.default(b, [46, 128, 3, 128])
    f = torch.ops.aten.view.default(c, [46, 128, 3, 128])
    q = torch.ops.aten.permute.default(d, [0, 2, 1, 3])
    k = torch.ops.aten.permute.default(e, [0, 2, 1, 3])
    v = torch.ops.aten.permute.default(f, [0, 2, 1, 3])'
