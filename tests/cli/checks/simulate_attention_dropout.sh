# SPDX-License-Identifier: Apache-2.0
# Attention with dropout: the kernels draw which weights are kept, forward and in the gradients, in the simulator with all checks and on
# the CPU, against the reference interpreter. Nothing is stored for each query and key.

# dropout NAME TYPE QUERIES KEYS HEADS HEADS_OF_KEYS COLUMNS COLUMNS_OF_VALUES CAUSAL P [MASK_TYPE MASK_SHAPE]: writes NAME.py
dropout() {
  local q="$2[2, $5, $3, $7]" k="$2[2, $6, $4, $7]" v="$2[2, $6, $4, $8]" input= mask=None
  if [ -n "${11}" ]; then
    input=", mask: \"${11}[${12}]\"" mask=mask
  fi
  local grouped=False
  [ "$5" = "$6" ] || grouped=True
  cat > "$1.py" <<GRAPH
def forward(self, q: "$q", k: "$k", v: "$v"$input):
    o = torch.ops.aten.scaled_dot_product_attention.default(q, k, v, $mask, ${10}, $9, scale = 0.4, enable_gqa = $grouped)
    return (o,)
GRAPH
}

agrees() { # NAME KERNELS
  for target in sm_90a sm_80; do
    check "dropout in attention: $1, forward, $target" 0 'checked +against the reference interpreter' \
      --graph "$1.py" --run --check --simulate --target $target
    check "dropout in attention: $1, gradients, $target" 0 'checked +against the reference interpreter' \
      --graph "$1.py" --grad --grad-seeds --wrt q,k,v --run --check --simulate --target $target
  done
  check "dropout in attention: $1, CPU" 0 'checked +against the reference interpreter' \
    --graph "$1.py" --grad --grad-seeds --wrt q,k,v --run --check --target cpu
  check "dropout in attention: $1, kernels" 0 "$2" --graph "$1.py" --grad --grad-seeds --wrt q,k,v --emit=plan --target sm_90a
}

kernels='attention\[
attention_score_queries\[
attention_score_keys\[
!native_dropout
!bmm'
dropout plain f16 45 71 3 3 32 32 False 0.35
dropout causal bf16 90 90 2 2 48 16 True 0.1
dropout grouped f16 34 66 4 2 64 64 True 0.6
dropout single f32 27 41 2 2 20 12 False 0.5
dropout masked bf16 66 35 2 2 32 32 False 0.25 b8 "2, 1, 1, 35"
dropout biased f16 40 130 2 2 128 128 False 0.2 f16 "2, 1, 40, 130"
dropout one f16 1 100 2 2 64 64 False 0.3
for name in plain causal grouped single masked biased one; do agrees $name "$kernels"; done
