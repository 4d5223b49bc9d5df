# SPDX-License-Identifier: Apache-2.0
# Attention of sequences that lie one behind the other, and its gradients: the operators of flash attention, in the simulator with all
# checks, against the reference interpreter. Stored results of PyTorch are in tests/graph/exported.

# lengths NAME TYPE QUERIES KEYS HEADS HEADS_OF_KEYS COLUMNS CAUSAL LEFT RIGHT: writes NAME.py, of 4 sequences
lengths() {
  local q="$2[$3, $5, $7]" k="$2[$4, $6, $7]"
  cat > "$1.py" <<GRAPH
def forward(self, q: "$q", k: "$k", v: "$k", g: "$q", step_q: "i32[5]", step_k: "i32[5]", state: "u64[2]", unused: "u8[0]"):
    cu_q = torch.ops.aten.mul.Tensor(step_q, $(($3 / 4)))
    cu_k = torch.ops.aten.mul.Tensor(step_k, $(($4 / 4)))
    forward = torch.ops.aten._flash_attention_forward.default(q, k, v, cu_q, cu_k, $3, $4, 0.0, $8, False, window_size_left = $9, window_size_right = ${10})
    o = forward[0]
    lse = forward[1]
    backward = torch.ops.aten._flash_attention_backward.default(g, q, k, v, o, lse, cu_q, cu_k, $3, $4, 0.0, $8, state, unused, window_size_left = $9, window_size_right = ${10})
    dq = backward[0]
    dk = backward[1]
    dv = backward[2]
    return (o, lse, dq, dk, dv)
GRAPH
}

lengths causal f16 120 120 2 2 64 True -1 -1
lengths more_keys bf16 40 160 4 1 32 True -1 -1
lengths fewer_keys f16 160 40 1 1 64 True -1 -1
lengths window f32 100 120 2 1 32 False 9 4
for name in causal more_keys fewer_keys window; do
  for target in sm_90a sm_80; do
    check "attention of lengths: $name, $target" 0 'checked +against the reference interpreter' --graph "$name.py" --run --check --simulate --target $target \
      --arg 'step_q=i32[5]:iota' --arg 'step_k=i32[5]:iota'
  done
  check "attention of lengths: $name, skips other keys" 0 'for k0 in range\(begin, end, BLOCK_N\)
!return 0$
!return rows - 1$' --graph "$name.py" --emit=tile --target sm_90a
done

cat > packed.py <<'GRAPH'
def forward(self, s0: "Sym(s0)", q: "f16[s0, 2, 64]", k: "f16[s0, 1, 64]", v: "f16[s0, 1, 64]", cu: "i32[4]"):
    both = torch.ops.torch_attn._varlen_attn.default(q, k, v, cu, None, s0, s0, True, 0.125, [5, 0])
    o = both[0]
    rows = torch.ops.aten.unsqueeze.default(q, 0)
    keys = torch.ops.aten.unsqueeze.default(k, 0)
    values = torch.ops.aten.unsqueeze.default(v, 0)
    efficient = torch.ops.aten._efficient_attention_forward.default(rows, keys, values, None, cu, cu, s0, s0, 0.0, 1)
    o_1 = efficient[0]
    whole = torch.ops.aten._flash_attention_forward.default(rows, keys, values, None, None, s0, s0, 0.0, True, False)
    o_2 = whole[0]
    lse = whole[1]
    return (o, o_1, o_2, lse)
GRAPH
for rows in 3 90; do
  check "attention of lengths: $rows rows" 0 'checked +against the reference interpreter' --graph packed.py --run --check --simulate --target sm_90a --arg s0=$rows \
    --arg 'cu=i32[4]:iota'
done
# Caches: pages by a table, keys in use, ALiBi; of one query for each sequence, and of more.
cat > pages.py <<'GRAPH'
def forward(self, s0: "Sym(s0)", q: "bf16[5, 4, 64]", k: "bf16[s0, 32, 2, 64]", v: "bf16[s0, 32, 2, 64]", cu: "i32[6]", used: "i32[5]", table: "i32[5, 6]"):
    keys = torch.ops.aten.mul.Tensor(used, 43)
    both = torch.ops.torch_attn._varlen_attn.default(q, k, v, cu, None, 1, 192, True, None, [-1, 0], True, keys, table)
    o = both[0]
    lse = both[1]
    return (o, lse)
GRAPH
sed 's/None, 1, 192/None, 7, 192/' pages.py > more_pages.py
cat > used.py <<'GRAPH'
def forward(self, q: "f16[3, 2, 4, 64]", k: "f16[3, 150, 2, 64]", v: "f16[3, 150, 2, 64]", used: "i32[3]", slopes: "f32[3, 4]"):
    keys = torch.ops.aten.mul.Tensor(used, 61)
    both = torch.ops.aten._flash_attention_forward.default(q, k, v, None, None, 2, 150, 0.0, True, False, seqused_k = keys, alibi_slopes = slopes)
    o = both[0]
    lse = both[1]
    return (o, lse)
GRAPH
of_pages=(--arg 'cu=i32[6]:iota' --arg 'used=i32[5]:iota' --arg 'table=i32[5x6]:iota' --arg s0=30)
for target in sm_90a sm_80; do
  for name in pages more_pages; do
    check "attention of lengths: $name, $target" 0 'checked +against the reference interpreter' --graph "$name.py" --run --check --simulate --target $target "${of_pages[@]}"
  done
  check "attention of lengths: keys in use, $target" 0 'checked +against the reference interpreter' --graph used.py --run --check --simulate --target $target \
    --arg 'used=i32[3]:iota'
done
check "attention of lengths: pages are read where they are" 0 '!clone
end = min' --graph pages.py --emit=tile --target sm_90a
check "attention of lengths: pages without numbers of keys" 1 '`seqused_k` gives the keys of each sequence .E1004.' \
  --graph <(sed 's/True, False)$/True, False, block_table = cu)/' packed.py) --emit=tile --target sm_90a

# xFormers' operators in both directions: a bias of batches with its gradient, and sequences with a window.
cat > efficient.py <<'GRAPH'
def forward(self, q: "f16[2, 70, 2, 32]", k: "f16[2, 90, 2, 32]", v: "f16[2, 90, 2, 32]", bias: "f16[1, 2, 70, 90]", g: "f16[2, 70, 2, 32]"):
    both = torch.ops.aten._efficient_attention_forward.default(q, k, v, bias, None, None, None, None, 0.0, 2, True)
    o = both[0]
    lse: "f32[2, 2, 96]" = both[1]
    of = torch.ops.aten._efficient_attention_backward.default(g, q, k, v, bias, o, None, None, 70, 90, lse, 0.0, both[2], both[3], 2, True)
    return (o, of[0], of[1], of[2], of[3])
GRAPH
cat > efficient_sequences.py <<'GRAPH'
def forward(self, q: "bf16[1, 80, 2, 64]", k: "bf16[1, 80, 2, 64]", v: "bf16[1, 80, 2, 64]", cu: "i32[5]", g: "bf16[1, 80, 2, 64]"):
    ends = torch.ops.aten.mul.Tensor(cu, 20)
    both = torch.ops.aten._efficient_attention_forward.default(q, k, v, None, ends, ends, 20, 20, 0.0, 1, True, window_size = 7)
    o = both[0]
    lse: "f32[4, 2, 32]" = both[1]
    of = torch.ops.aten._efficient_attention_backward.default(g, q, k, v, None, o, ends, ends, 20, 20, lse, 0.0, both[2], both[3], 1, False, window_size = 7)
    return (o, lse, of[0], of[1], of[2])
GRAPH
for target in sm_90a sm_80 cpu; do
  simulated=--simulate
  [ $target = cpu ] && simulated=
  check "attention of lengths: a bias and its gradient, $target" 0 'checked +against the reference interpreter' --graph efficient.py --run --check $simulated --target $target
  check "attention of lengths: gradients of sequences, $target" 0 'checked +against the reference interpreter' --graph efficient_sequences.py --run --check $simulated --target $target \
    --arg 'cu=i32[5]:iota'
done
check "attention of lengths: ends that are no integers" 1 'the ends of sequences must be .sequences . 1. of integers' --graph <(sed 's/cu: "i32/cu: "f32/' efficient_sequences.py) --emit=tile --target sm_90a
check "attention of lengths: ends of queries alone" 1 'of queries and of keys or of neither' --graph <(sed 's/ends, ends, 20/ends, None, 20/' efficient_sequences.py) --emit=tile --target sm_90a
check "attention of lengths: a bias of other keys" 1 'must be of floats and broadcast to' --graph <(sed 's/70, 90\]"/70, 91]"/' efficient.py) --emit=tile --target sm_90a

# A cache in 8 bits, with a scale for all, for each head or for each key: converted where a few queries read it.
cat > cache.py <<'GRAPH'
def forward(self, q: "bf16[2, 8, 3, 64]", keys: "f8e4m3fn[2, 2, 611, 64]", values: "f8e4m3fn[2, 2, 611, 64]", of_keys: "f32[]", of_values: "f32[2, 2, 1, 1]"):
    k_0 = torch.ops.aten._to_copy.default(keys, dtype = torch.bfloat16)
    k = torch.ops.aten.mul.Tensor(k_0, of_keys)
    v_0 = torch.ops.aten._to_copy.default(values, dtype = torch.float32)
    v_1 = torch.ops.aten.mul.Tensor(v_0, of_values)
    v = torch.ops.aten._to_copy.default(v_1, dtype = torch.bfloat16)
    o = torch.ops.aten.scaled_dot_product_attention.default(q, k, v, None, 0.0, False, enable_gqa = True)
    return (o,)
GRAPH
sed 's/f8e4m3fn/i8/g; s/of_values: "f32\[2, 2, 1, 1\]"/of_values: "f32[2, 2, 611, 1]"/' cache.py > cache_of_integers.py
for name in cache cache_of_integers; do
  check "attention of lengths: $name in one kernel" 0 ': 1 kernels, 1 launches' --graph "$name.py" --emit=plan --target sm_90a
  for target in sm_90a sm_80 cpu; do
    simulated=--simulate
    [ $target = cpu ] && simulated=
    check "attention of lengths: $name, $target" 0 'checked +against the reference interpreter' --graph "$name.py" --run --check $simulated --target $target
  done
done
