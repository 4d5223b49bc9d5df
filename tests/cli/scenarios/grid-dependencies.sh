# SPDX-License-Identifier: Apache-2.0
# Programmatic dependent launch of graphs: each kernel waits once, in front of every access to global
# memory in its PTX; `--no-pdl` and older GPUs have none.
cat > check.awk <<'AWK'
/^\.visible \.entry/ { name = $3; kernels++; waits[name] = launches[name] = 0 }
/^\.func/ { name = "" }
/griddepcontrol\.wait/ { waits[name]++ }
/griddepcontrol\.launch_dependents/ { launches[name]++ }
/[a-z]\.global/ && name != "" && !waits[name] { print name ": " $0 " comes before the wait"; bad = 1 }
END {
  for (n in waits)
    if (waits[n] != 1 || launches[n] != 1) { print n ": waits " waits[n] ", launches " launches[n]; bad = 1 }
  exit bad || !kernels
}
AWK
cat > products.py <<'GRAPH'
def forward(self, x: "f16[4096, 4096]", w: "f16[4096, 4096]", q: "f16[2, 8, 512, 64]", at: "i64[4096]"):
    mm = torch.ops.aten.mm.default(x, w)
    amax = torch.ops.aten.amax.default(mm, [1])
    softmax = torch.ops.aten._softmax.default(mm, 0, False)
    mm_1 = torch.ops.aten.mm.default(softmax, w)
    sdpa = torch.ops.aten.scaled_dot_product_attention.default(q, q, q, None, 0.0, True)
    full = torch.ops.aten.full.default([64], 0, dtype=torch.float16)
    scatter_add = torch.ops.aten.scatter_add.default(full, 0, at, amax)
    cumsum = torch.ops.aten.cumsum.default(scatter_add, 0)
    return (mm_1, sdpa, cumsum)
GRAPH
for graph in products.py "$HERE"/../../graph/captures/*.infer.*.py; do
  status 0 tilec --graph "$graph" --target sm_90a --emit=ptx -o kernels.ptx
  status 0 awk -f check.awk kernels.ptx
done
status 0 tilec --graph products.py --target sm_90a --emit=ptx -o kernels.ptx
has kernels.ptx 'cp.async.bulk.tensor'
status 0 tilec --graph products.py --target sm_90a --emit=ptx --no-pdl -o kernels.ptx
lacks kernels.ptx 'griddepcontrol'
status 0 tilec --graph "$HERE/../../graph/captures/gpt2.none.infer.inf1.py" --target sm_80 --emit=ptx -o kernels.ptx
lacks kernels.ptx 'griddepcontrol'

# The same in C: the first launch and those behind copies and fills are in order.
status 0 tilec --graph products.py --target sm_90a --emit=c --ptxas none --name with -o made
has made/with.c 'tile_launch_options order = {1};'
has made/with.c 'order.in_order = 1;'
status 0 tilec --graph products.py --target sm_90a --emit=c --ptxas none --name without --no-pdl -o made
lacks made/without.c 'in_order'
status 0 cc -std=c89 -pedantic -Wall -Wextra -Werror -I "$HERE/../../../include" -c made/with.c -o with.o

status 2 tilec "$ADD" --no-pdl --emit=ptx
has err '`--no-pdl` is of graphs'
