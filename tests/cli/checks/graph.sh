# SPDX-License-Identifier: Apache-2.0
# --graph: tensor graphs as PyTorch prints them.

cat > graph.py <<'GRAPH'
class <lambda>(torch.nn.Module):
    def forward(self, x: "f32[4, 8][8, 1]cuda:0", y: "f32[8][1]cuda:0"):
        add: "f32[4, 8][8, 1]cuda:0" = torch.ops.aten.add.Tensor(x, y);  x = y = None
        return (add,)
GRAPH

check "--graph prints the graph" 0 'class <lambda>\(torch.nn.Module\):
add: "f32\[4, 8\]\[8, 1\]cuda:0" = torch.ops.aten.add.Tensor\(x, y\)
return \(add,\)' --graph graph.py
check "--graph --json" 0 '"inputs": \[\{"name": "x", "type": "f32\[4, 8\]\[8, 1\]"\}
"operator": "aten.add.Tensor"
"outputs": \["add"\]' --graph graph.py --emit=graph --json
check "--graph without a file" 2 '\[E0702\]' --graph
check "a graph that is not there" 1 '\[E0710\]' --graph nowhere.py
check "--emit=graph of a kernel" 2 '\[E0703\]
--graph FILE' add.tile --emit=graph
check "--graph with another mode" 2 '\[E0703\]' --graph graph.py --autotune
check "two inputs" 2 '\[E0703\]' --graph graph.py add.tile
sed 's/add\.Tensor/ad.Tensor/' graph.py > unknown.py
check "an unknown operator" 1 'unknown\.py:3:.*`aten\.ad\.Tensor` \(1\) \[E1002\]
`aten\.add\.Tensor`' --graph unknown.py
{ printf 'def forward(self, x: f32[9223372036854775808]):\n    return x\n'; } > huge.py
check "a limit of graphs" 75 '\[E1009\]' --graph huge.py

cat > softmax.py <<'GRAPH'
class G(torch.nn.Module):
    def forward(self, x: "f32[64, 128]", w: "f32[128, 32]"):
        softmax = torch.ops.aten._softmax.default(x, -1, False)
        mm = torch.ops.aten.mm.default(softmax, w)
        relu = torch.ops.aten.relu.default(mm)
        return (relu,)
GRAPH
check "--explain-fusion" 0 '^softmax: rows over x < 64, r < 128; reads x; writes .*; 65536 bytes
^mm_relu: product over batch < 1, m < 64, n < 32
softmax\.py:4:.*stay apart: a product reads each element many times: it is stored first \([0-9]+ bytes\) \[fusion\]' --graph softmax.py --explain-fusion
check "--explain-fusion --json" 0 '"regions": ?\[\{"name": ?"softmax", "kind": "rows"' --graph softmax.py --explain-fusion --json
check "--explain-fusion of a kernel" 2 '\[E0703\]
--graph FILE' add.tile --explain-fusion
