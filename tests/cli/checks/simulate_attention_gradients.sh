# SPDX-License-Identifier: Apache-2.0
# Gradients of attention in graphs for a GPU: kernels of their own without a mask (with one: simulate_attention_score_gradients.sh), in the
# simulator with all checks, against the reference interpreter; written out elsewhere. The forward operator gives the log-sum-exp.

# gradients NAME TYPE QUERIES KEYS HEADS HEADS_OF_KEYS COLUMNS CAUSAL: writes NAME.py
gradients() {
  local q="$2[2, $5, $3, $7]" k="$2[2, $6, $4, $7]"
  cat > "$1.py" <<GRAPH
def forward(self, g: "$q", q: "$q", k: "$k", v: "$k"):
    forward = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu.default(q, k, v, 0.0, $8)
    o = forward[0]
    lse = forward[1]
    backward = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu_backward.default(g, q, k, v, o, lse, 0.0, $8, scale = 0.2)
    dq = backward[0]
    dk = backward[1]
    dv = backward[2]
    return (dq, dk, dv)
GRAPH
  sed -i "s/0.0, $8)\$/0.0, $8, scale = 0.2)/" "$1.py"
}

gradients plain f16 130 200 3 3 64 False
gradients causal bf16 200 136 2 2 128 True
gradients padded f16 72 96 2 2 40 True # columns that are no power of two
gradients grouped bf16 96 160 4 2 32 True
for name in plain causal padded grouped; do
  for target in sm_90a sm_80; do
    check "gradients of attention: $name, $target" 0 'checked +against the reference interpreter' \
      --graph "$name.py" --run --check --simulate --target $target
  done
  check "gradients of attention: $name, kernels" 0 'def attention_keys
def attention_queries' --graph "$name.py" --emit=tile --target sm_90a
done
check "gradients of attention: written out on the CPU" 0 'checked +against the reference interpreter' --graph grouped.py --run --check --target cpu
check "gradients of attention: no kernels on the CPU" 0 '!def attention_keys' --graph grouped.py --emit=tile --target cpu

# The operators of GPUs; a length that each run gives, one row among them.
cat > flash.py <<'GRAPH'
def forward(self, s0: "Sym(s0)", g: "f16[1, 2, s0, 64]", q: "f16[1, 2, s0, 64]", k: "f16[1, 2, s0, 64]", v: "f16[1, 2, s0, 64]", seed: "u64[2]", offset: "u64[]"):
    forward = torch.ops.aten._scaled_dot_product_flash_attention.default(q, k, v, 0.0, True)
    o = forward[0]
    lse = forward[1]
    backward = torch.ops.aten._scaled_dot_product_flash_attention_backward.default(g, q, k, v, o, lse, None, None, s0, s0, 0.0, True, seed, offset)
    dq = backward[0]
    dk = backward[1]
    dv = backward[2]
    return (dq, dk, dv)
GRAPH
for rows in 1 150; do
  check "gradients of attention: flash of $rows rows" 0 'checked +against the reference interpreter' \
    --graph flash.py --run --check --simulate --target sm_90a --arg s0=$rows
done

# Rows of the log-sum-exp that are padded: not in row-major order, which the kernels take.
cat > padded_rows.py <<'GRAPH'
def forward(self, g: "f16[2, 2, 40, 64]", q: "f16[2, 2, 40, 64]", k: "f16[2, 2, 40, 64]", v: "f16[2, 2, 40, 64]", o: "f16[2, 2, 40, 64]", lse: "f32[2, 2, 64]", seed: "u64[]", offset: "u64[]"):
    backward = torch.ops.aten._scaled_dot_product_efficient_attention_backward.default(g, q, k, v, None, o, lse, seed, offset, 0.0, [True, True, True, False], True)
    dq = backward[0]
    dk = backward[1]
    dv = backward[2]
    return (dq, dk, dv)
GRAPH
check "gradients of attention: padded rows of the log-sum-exp" 0 'checked +against the reference interpreter' \
  --graph padded_rows.py --run --check --simulate --target sm_90a
