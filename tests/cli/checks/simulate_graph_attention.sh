# SPDX-License-Identifier: Apache-2.0
# Persistent kernels of attention in the simulator: warpgroups that take turns, blocks one after the other and in pairs, results
# stored by descriptors and by pointers.

# attention HEADS QUERIES KEYS DEPTH CAUSAL
attention() {
  cat > graph.py << GRAPH
def forward(self, q: "bf16[1, $1, $2, $4]", k: "bf16[1, $1, $3, $4]", v: "bf16[1, $1, $3, $4]"):
    a = torch.ops.aten.scaled_dot_product_attention.default(q, k, v, None, 0.0, $5)
    return (a,)
GRAPH
}

# simulated NAME PATTERN
simulated() {
  check "$1: its kernel" 0 "$2" --graph graph.py --target sm_90a --emit=tile
  check "$1: simulated" 0 'checked +against the reference interpreter' --graph graph.py --run --target sm_90a --simulate --check
}

attention 139 128 256 128 False
simulated "a program computes two blocks" 'for tile in tl.range\(tl.program_id\(0\), tiles, tl.num_programs\(0\)\):
out_tiles.store\('
attention 70 200 128 128 False
simulated "queries that fill no block" 'for tile in tl.range\(tl.program_id\(0\), tiles, tl.num_programs\(0\)\):
tl.store\(out0 .*mask=\(m < 200\)'
attention 34 512 512 64 True
simulated "pairs" 'for tile in tl.range\(0, 2 \* pairs\):
out_tiles.store\('
check "warpgroups take turns" 0 'bar.arrive' --graph graph.py --target sm_90a --emit=ptx
