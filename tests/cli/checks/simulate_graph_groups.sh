# SPDX-License-Identifier: Apache-2.0
# Grouped products and products of 8-bit floats with scales, of graphs, in the simulator.

# simulated NAME PATTERN: the kernel of graph.py matches; its results are right on both targets, with all checks.
simulated() {
  check "$1: its kernel" 0 "$2" --graph graph.py --target sm_90a --emit=tile
  for target in sm_80 sm_90a; do
    check "$1: simulated $target" 0 'checked +against the reference interpreter' --graph graph.py --run --target $target --simulate --check
  done
}

# ---- groups of rows: tensor maps of all rows, masks at the ends of groups ----

# Random ends of groups: with more groups than blocks of rows some are empty.
for groups in 1 6 64; do
  pattern='a_tiles.load\(\[m_first, k0\]\)'
  [ $groups = 64 ] && pattern='BLOCK_M: constexpr = 16' # few rows each
  cat > graph.py << GRAPH
def forward(self, x: "bf16[203, 72]", w: "bf16[$groups, 72, 136]", offs: "i32[$groups]"):
    y = torch.ops.aten._grouped_mm.default(x, w, offs)
    return (y,)
GRAPH
  simulated "$groups groups of rows" "$pattern"
done
cat > graph.py << 'GRAPH'
def forward(self, x: "f16[150, 64]", index: "i64[170]", w: "f16[5, 136, 64]", v: "f16[5, 136, 64]", offs: "i64[5]", s: "f16[170, 1]"):
    a = torch.ops.aten.index.Tensor(x, [index])
    b = torch.ops.aten.permute.default(w, [0, 2, 1])
    c = torch.ops.aten.permute.default(v, [0, 2, 1])
    d = torch.ops.aten._grouped_mm.default(a, b, offs)
    e = torch.ops.aten._grouped_mm.default(a, c, offs)
    f = torch.ops.aten.silu.default(d)
    g = torch.ops.aten.mul.Tensor(f, e)
    h = torch.ops.aten.mul.Tensor(g, s)
    return (h,)
GRAPH
simulated "rows that are gathered, and a gate" 'acc1 = tl.dot\(a0, b1, acc1\)'
cat > graph.py << 'GRAPH'
def forward(self, x: "bf16[170, 64]", index: "i64[170]", w: "bf16[5, 64, 136]", offs: "i32[5]", o: "f32[40, 136]"):
    a = torch.ops.aten._grouped_mm.default(x, w, offs)
    b = torch.ops.prims.convert_element_type.default(a, torch.float32)
    c = torch.ops.aten.index_add.default(o, 0, index, b)
    return (c,)
GRAPH
simulated "rows that are scattered" 'tl.atomic_add\(out0.*mask=\(m < m_end\)'

# ---- groups of columns and of inner indices ----

cat > graph.py << 'GRAPH'
def forward(self, x: "bf16[7, 136, 64]", w: "bf16[64, 203]", offs: "i32[7]"):
    y = torch.ops.aten._grouped_mm.default(x, w, offs)
    return (y,)
GRAPH
simulated "groups of columns" 'm_end'
cat > graph.py << 'GRAPH'
def forward(self, x: "bf16[136, 300]", w: "bf16[300, 72]", offs: "i32[9]"):
    z = torch.ops.aten._grouped_mm.default(x, w, offs)
    return (z,)
GRAPH
simulated "groups of inner indices" 'range\(k_begin, k_end, BLOCK_K\)'
cat > graph.py << 'GRAPH'
def forward(self, x: "bf16[300, 136]", w: "bf16[300, 72]", offs: "i32[9]"):
    y = torch.ops.aten.permute.default(x, [1, 0])
    z = torch.ops.aten._grouped_mm.default(y, w, offs)
    return (z,)
GRAPH
simulated "the gradient of groups' matrices" 'range\(k_begin, k_end, BLOCK_K\)'

# ---- 8-bit floats with scales ----

for scales in '203, 3;3, 2' '2, 3;3, 136' '203, 3;3, 136'; do
  cat > graph.py << GRAPH
def forward(self, x: "f8e4m3fn[203, 320]", w: "f8e4m3fn[136, 320]", a: "f32[${scales%;*}]", b: "f32[${scales#*;}]"):
    t = torch.ops.aten.permute.default(w, [1, 0])
    y = torch.ops.aten._scaled_mm.default(x, t, a, b, out_dtype = torch.bfloat16)
    return (y,)
GRAPH
  simulated "scales [${scales%;*}] and [${scales#*;}]" '\+= tl.dot\(a, b\) \* scale'
done
cat > graph.py << 'GRAPH'
def forward(self, x: "f8e4m3fn[203, 320]", w: "f8e4m3fn[136, 320]", a: "f32[203, 1]", b: "f32[1, 136]"):
    t = torch.ops.aten.permute.default(w, [1, 0])
    y = torch.ops.aten._scaled_mm.default(x, t, a, b, out_dtype = torch.bfloat16)
    return (y,)
GRAPH
simulated "scales of rows and columns, promoted" 'max_num_imprecise_acc=min\(BLOCK_K, 128\)'
cat > graph.py << 'GRAPH'
def forward(self, x: "f8e4m3fn[203, 320]", w: "f8e4m3fn[5, 136, 320]", a: "f32[203]", b: "f32[5, 136]", offs: "i32[5]"):
    t = torch.ops.aten.permute.default(w, [0, 2, 1])
    y = torch.ops.aten._scaled_grouped_mm.default(x, t, a, b, offs, out_dtype = torch.bfloat16)
    return (y,)
GRAPH
simulated "groups with scales" 'b_tiles.load\(\[expert, n_first, k0\]\)'
