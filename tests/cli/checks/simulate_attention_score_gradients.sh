# SPDX-License-Identifier: Apache-2.0
# Gradients of attention with a mask or bias, in f32, with wide heads, and with values of another width: kernels that compute the bias
# of each score, in the simulator with all checks, against the reference interpreter. Blocks of keys and queries that a bias hides
# are skipped.

# gradients NAME TYPE QUERIES KEYS HEADS HEADS_OF_KEYS COLUMNS COLUMNS_OF_VALUES CAUSAL [MASK_TYPE MASK_SHAPE]: writes NAME.py
gradients() {
  local q="$2[2, $5, $3, $7]" k="$2[2, $6, $4, $7]" v="$2[2, $6, $4, $8]" g="$2[2, $5, $3, $8]" input= mask=
  if [ -n "${10}" ]; then
    input=", mask: \"${10}[${11}]\"" mask=", attn_mask = mask"
  fi
  cat > "$1.py" <<GRAPH
def forward(self, g: "$g", q: "$q", k: "$k", v: "$v"$input):
    forward = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu.default(q, k, v, 0.0, $9$mask, scale = 0.3)
    o = forward[0]
    lse = forward[1]
    backward = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu_backward.default(g, q, k, v, o, lse, 0.0, $9$mask, scale = 0.3)
    dq = backward[0]
    dk = backward[1]
    dv = backward[2]
    return (dq, dk, dv)
GRAPH
}

agrees() { # NAME KERNELS
  for target in sm_90a sm_80; do
    check "gradients of attention with a bias: $1, $target" 0 'checked +against the reference interpreter' \
      --graph "$1.py" --run --check --simulate --target $target
  done
  check "gradients of attention with a bias: $1, kernels" 0 "$2" --graph "$1.py" --emit=${3:-tile} --target sm_90a
}

kernels='attention_score_queries\[
attention_score_keys\['
wide='attention_score_queries\[
attention_score_part\['
gradients pairs f16 70 131 3 3 64 64 False f16 "2, 1, 70, 131"
gradients keys bf16 96 72 4 2 48 48 True b8 "2, 1, 1, 72"
gradients heads bf16 40 50 4 1 32 32 False f32 "4, 1, 50"
gradients vector f16 33 65 2 2 64 64 False b8 "65"
gradients single f32 33 50 2 1 20 20 True b8 "2, 2, 33, 50"
gradients wider f16 48 80 1 1 256 256 False f32 "48, 80"
gradients widths bf16 40 64 2 1 192 128 True
gradients odd f32 1 7 2 2 96 64 True
gradients windows f16 49 49 3 3 32 32 False f16 "1, 3, 49, 49"
gradients few bf16 21 64 2 2 24 48 True b8 "2, 1, 21, 64"
gradients plain f16 64 33 2 2 64 16 False
gradients shared bf16 50 17 4 2 64 64 True
gradients both f16 30 61 2 2 128 96 False f32 "30, 61"
for name in pairs keys heads vector single odd shared both; do agrees $name "$kernels" plan; done
for name in windows few plain; do agrees $name 'attention_score_whole\[
!attention_score_queries\[
!attention_score_keys\[' plan; done
for name in wider widths; do agrees $name "$wide" plan; done

# A window and slopes of heads, computed from indices: nothing is stored for each pair, and both directions have bounds.
cat > window.py <<'GRAPH'
def forward(self, g: "f16[1, 4, 150, 32]", q: "f16[1, 4, 150, 32]", k: "f16[1, 2, 170, 32]", v: "f16[1, 2, 170, 32]", slopes: "f32[4]"):
    rows = torch.ops.aten.arange.default(150)
    columns = torch.ops.aten.arange.default(170)
    m = torch.ops.aten.unsqueeze.default(rows, 1)
    n = torch.ops.aten.unsqueeze.default(columns, 0)
    distance = torch.ops.aten.sub.Tensor(m, n)
    before = torch.ops.aten.le.Scalar(distance, 37)
    behind = torch.ops.aten.ge.Scalar(distance, -5)
    seen = torch.ops.aten.bitwise_and.Tensor(before, behind)
    far = torch.ops.aten._to_copy.default(distance, dtype = torch.float32)
    of_head = torch.ops.aten.view.default(slopes, [4, 1, 1])
    slope = torch.ops.aten.mul.Tensor(far, of_head)
    hidden = torch.ops.aten.full.default([], -float('inf'))
    bias = torch.ops.aten.where.self(seen, slope, hidden)
    all = torch.ops.aten.unsqueeze.default(bias, 0)
    mask = torch.ops.aten._to_copy.default(all, dtype = torch.float16)
    forward = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu.default(q, k, v, 0.0, False, attn_mask = mask)
    o = forward[0]
    lse = forward[1]
    backward = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu_backward.default(g, q, k, v, o, lse, 0.0, False, attn_mask = mask)
    dq = backward[0]
    dk = backward[1]
    dv = backward[2]
    return (o, dq, dk, dv)
GRAPH
agrees window 'begin = max\(m_first - 37, 0\)
for k0 in range\(begin, end, BLOCK_N\)
return tl.maximum\(m - 37, 0\)
return tl.minimum\(m \+ 5, rows - 1\)
return tl.maximum\(n - 5, 0\)
return tl.minimum\(n \+ 37, rows - 1\)'
check "gradients of attention with a bias: no memory for pairs" 0 '!(mask|bias|all|where) at ' --graph window.py --emit=plan --target sm_90a

# Rows that see no key have no gradient.
cat > empty.py <<'GRAPH'
def forward(self, g: "f16[1, 1, 40, 32]", q: "f16[1, 1, 40, 32]", k: "f16[1, 1, 40, 32]", v: "f16[1, 1, 40, 32]"):
    rows = torch.ops.aten.arange.default(40)
    m = torch.ops.aten.unsqueeze.default(rows, 1)
    seen = torch.ops.aten.lt.Tensor(rows, m)
    far = torch.ops.aten.ge.Scalar(m, 17)
    mask = torch.ops.aten.bitwise_and.Tensor(seen, far)
    forward = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu.default(q, k, v, 0.0, False, attn_mask = mask)
    o = forward[0]
    lse = forward[1]
    backward = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu_backward.default(g, q, k, v, o, lse, 0.0, False, attn_mask = mask)
    dq = backward[0]
    dk = backward[1]
    dv = backward[2]
    return (dq, dk, dv)
GRAPH
agrees empty 'attention_score_whole\[' plan

# Flex attention and its gradients: score functions with a derivative of their own, also of the log-sum-exp.
for name in flex_soft_cap flex_slopes; do
  for target in sm_90a sm_80; do
    check "gradients of attention with a bias: $name, $target" 0 'checked +against the reference interpreter' \
      --graph "$root/tests/graph/exported/$name.trained/graph.py" --run --check --simulate --target $target --arg s50=33 --arg s33=2
  done
done
folder=$root/tests/graph/exported/flex_documents.trained sizes=()
while read -r size; do sizes+=(--arg "$size"); done < "$folder/sizes"
check "gradients of attention with a bias: flex_documents" 0 'checked +against the reference interpreter' \
  --graph "$folder/graph.py" --run --check --simulate --target sm_90a --weights "$folder/inputs.safetensors" "${sizes[@]}"
check "gradients of attention with a bias: flex_documents, the block mask bounds both sides" 0 '!return 0$
!return rows - 1$' --graph "$folder/graph.py" --emit=tile --target sm_90a "${sizes[@]}"
check "gradients of attention with a bias: the kernels of flex attention" 0 'def attention_score_queries
def attention_score_keys
1.0 - ' --graph "$root/tests/graph/exported/flex_soft_cap.trained/graph.py" --emit=tile --target sm_90a
cat > flex.py <<'GRAPH'
class GraphModule(torch.nn.Module):
    def forward(self, q: "f16[2, 2, 70, 64]", k: "f16[2, 1, 90, 64]", v: "f16[2, 1, 90, 32]", positions: "i32[90]", g: "f16[2, 2, 70, 32]", of_lse: "f32[2, 2, 70]"):
        score_0 = self.score_0
        joint_0 = self.joint_0
        mask_0 = self.mask_0
        documents = torch.ops.aten.floor_divide.default(positions, 26)
        flex_attention = torch.ops.higher_order.flex_attention(q, k, v, score_0, (70, 90, mask_0), 0.125, {}, (), (documents,))
        o = flex_attention[0]
        lse = flex_attention[1]
        flex_attention_backward = torch.ops.higher_order.flex_attention_backward(q, k, v, o, lse, g, of_lse, score_0, joint_0, (70, 90, mask_0), 0.125, {}, (), (documents,))
        dq = flex_attention_backward[0]
        dk = flex_attention_backward[1]
        dv = flex_attention_backward[2]
        return (o, lse, dq, dk, dv)
    class score_0(torch.nn.Module):
        def forward(self, s: "f32[]", b: "i32[]", h: "i32[]", m: "i32[]", n: "i32[]"):
            sub = torch.ops.aten.sub.Tensor(n, m)
            add = torch.ops.aten.add.Tensor(s, sub, alpha = 0.05)
            return add
    class joint_0(torch.nn.Module):
        def forward(self, s: "f32[]", b: "i32[]", h: "i32[]", m: "i32[]", n: "i32[]", grad: "f32[]"):
            return [grad, None, None, None, None]
    class mask_0(torch.nn.Module):
        def forward(self, b: "i32[]", h: "i32[]", m: "i32[]", n: "i32[]", documents: "i32[90]"):
            index = torch.ops.aten.index.Tensor(documents, [m])
            index_1 = torch.ops.aten.index.Tensor(documents, [n])
            eq = torch.ops.aten.eq.Tensor(index, index_1)
            return eq
GRAPH
for target in sm_90a sm_80; do
  check "gradients of attention with a bias: documents, $target" 0 'checked +against the reference interpreter' --graph flex.py --run --check --simulate \
    --target $target --arg 'positions=i32[90]:iota'
done
check "gradients of attention with a bias: one kernel forward, nothing for pairs" 0 ': 5 kernels, 5 launches' --graph flex.py --emit=plan --target sm_90a

# A length that each run gives.
cat > lengths.py <<'GRAPH'
def forward(self, s0: "Sym(s0)", g: "bf16[1, 2, s0, 64]", q: "bf16[1, 2, s0, 64]", k: "bf16[1, 1, s0, 64]", v: "bf16[1, 1, s0, 64]", bias: "bf16[1, 2, s0, s0]", seed: "u64[2]", offset: "u64[]"):
    forward = torch.ops.aten._scaled_dot_product_efficient_attention.default(q, k, v, bias, True, 0.0, True)
    o = forward[0]
    lse = forward[1]
    backward = torch.ops.aten._scaled_dot_product_efficient_attention_backward.default(g, q, k, v, bias, o, lse, seed, offset, 0.0, [True, True, True, False], True)
    dq = backward[0]
    dk = backward[1]
    dv = backward[2]
    return (dq, dk, dv)
GRAPH
for rows in 1 77; do
  check "gradients of attention with a bias: $rows rows" 0 'checked +against the reference interpreter' \
    --graph lengths.py --run --check --simulate --target sm_90a --arg s0=$rows
done
