# SPDX-License-Identifier: Apache-2.0
# The functions of kernels that torch.compile generates: `triton_helpers` is part of the language, and its file is not read.

cat > generated.py <<'KERNEL'
import triton
import triton.language as tl

from torch._inductor.runtime import triton_helpers, triton_heuristics
from torch._inductor.runtime.triton_helpers import libdevice, math as tl_math
from torch._inductor.runtime.hints import AutotuneHint, ReductionHint, TileHint, DeviceProperties
triton_helpers.set_driver_to_gpu()

@triton_heuristics.pointwise(size_hints={'x': 8}, filename=__file__, triton_meta={'configs': []}, min_elem_per_thread=0)
@triton.jit
def floors(in_ptr0, out_ptr0, out_ptr1, out_ptr2, out_ptr3, xnumel, XBLOCK : tl.constexpr):
    xindex = tl.program_id(0) * XBLOCK + tl.arange(0, XBLOCK)[:]
    xmask = xindex < xnumel
    tmp0 = tl.load(in_ptr0 + xindex, xmask) - 4
    tl.store(out_ptr0 + xindex, triton_helpers.div_floor_integer(tmp0, 3), xmask)
    tl.store(out_ptr1 + xindex, triton_helpers.remainder_integer(tmp0, 3), xmask)
    tmp1, tmp2 = triton_helpers.frexp(tmp0.to(tl.float32))
    tl.store(out_ptr2 + xindex, tmp1, xmask)
    tl.store(out_ptr3 + xindex, tmp2 + libdevice.floor(tl_math.abs(0.5)).to(tl.int32), xmask)

# Rows of 8, of which 6 count. Row 1 has NaN at its positions 3 and 5.
@triton.jit
def rows(out_ptr0, out_ptr1, out_ptr2, out_ptr3, out_ptr4, XBLOCK: tl.constexpr):
    r0_numel = 6
    xindex = tl.arange(0, XBLOCK)[:, None]
    rindex = tl.arange(0, 8)[None, :]
    rmask = rindex < r0_numel
    tmp0 = tl.where((xindex == 1) & ((rindex == 3) | (rindex == 5)), float("nan"), ((rindex * 5 + xindex) % 7).to(tl.float32))
    tmp1 = tl.where(rmask, tmp0, float("-inf"))
    tl.store(out_ptr0 + xindex, triton_helpers.max2(tmp1, 1)[:, None])
    tmp2 = tl.broadcast_to(rindex, tmp1.shape)
    tmp3, tmp4 = triton_helpers.max_with_index(tmp1, tmp2, 1)
    tl.store(out_ptr1 + xindex, tmp4[:, None])
    tmp5, tmp6 = triton_helpers.min_with_index(tl.where(rmask, tmp0, float("inf")), tmp2, 1)
    tl.store(out_ptr2 + xindex, tmp6[:, None])
    tmp7, tmp8 = triton_helpers.sort_with_index(tmp0, tmp2.to(tl.int16), r0_numel, 1, stable=False, descending=False)
    tl.store(out_ptr3 + 8 * xindex + rindex, tmp8)
    tmp9, tmp10 = triton_helpers.sort_with_index(tmp0, tmp2.to(tl.int16), None, 1, stable=True, descending=True)
    tl.store(out_ptr4 + 8 * (1 - xindex) + rindex, tmp10)

@triton.jit
def samples(out_ptr0, out_ptr1, out_ptr2, out_ptr3, r0_numel, R0_BLOCK: tl.constexpr):
    r0_base = tl.arange(0, R0_BLOCK)[None, :]
    mean = tl.zeros([1, R0_BLOCK], tl.float32)
    m2 = tl.zeros([1, R0_BLOCK], tl.float32)
    weight = tl.zeros([1, R0_BLOCK], tl.float32)
    top = tl.full([1, R0_BLOCK], float("-inf"), tl.float32)
    total = tl.zeros([1, R0_BLOCK], tl.float32)
    for r0_offset in tl.range(0, r0_numel, R0_BLOCK):
        r0_index = r0_offset + r0_base
        r0_mask = r0_index < r0_numel
        tmp0 = r0_index.to(tl.float32)
        mean_next, m2_next, weight_next = triton_helpers.welford_reduce(tmp0, mean, m2, weight, r0_offset == 0)
        mean = tl.where(r0_mask, mean_next, mean)
        m2 = tl.where(r0_mask, m2_next, m2)
        weight = tl.where(r0_mask, weight_next, weight)
        top_next, total_next = triton_helpers.online_softmax_combine(top, total, -tmp0, False)
        top = tl.where(r0_mask, top_next, top)
        total = tl.where(r0_mask, total_next, total)
    a, b, c = triton_helpers.welford(mean, m2, weight, 1)
    tl.store(out_ptr0 + tl.arange(0, 1)[:, None], a[:, None])
    tl.store(out_ptr1 + tl.arange(0, 1)[:, None], b[:, None])
    d, f = triton_helpers.online_softmax_reduce(top, total, 1, False)
    tl.store(out_ptr2 + tl.arange(0, 1)[:, None], d[:, None])
    tl.store(out_ptr3 + tl.arange(0, 1)[:, None], f[:, None])

@triton.jit
def search(in_ptr0, out_ptr0, out_ptr1, XBLOCK: tl.constexpr):
    x = tl.arange(0, XBLOCK)
    tmp0 = x.to(tl.float32)
    zero = tl.zeros([XBLOCK], tl.int32)
    tl.store(out_ptr0 + x, triton_helpers.bucketize_binary_search(tmp0, in_ptr0, 3, 3, 1, zero, tl.int64, False, None, None, None))
    tl.store(out_ptr1 + x, triton_helpers.bucketize_binary_search(tmp0, in_ptr0, 3, 3, 1, zero, tl.int64, True, None, None, None))

@triton.jit
def add(a, b):
    return a + b

@triton.jit
def scan(ws_ptr, ws64_ptr, out_ptr0, out_ptr1):
    i = tl.program_id(0)
    tmp0 = (i + 1).to(tl.float32)
    tl.store(out_ptr0 + i, triton_helpers.exclusive_scan_decoupled_lookback(
        ws_ptr, tmp0, i, add, DTYPE_VALUE_AS_UINT=tl.uint32, DTYPE_PACK=tl.uint64))
    tl.store(out_ptr1 + i, triton_helpers.exclusive_scan_decoupled_lookback_64(ws64_ptr, (i + 1).to(tl.int64), i, add))

@triton.jit
def others(in_ptr0, out_ptr0, out_ptr1, XBLOCK: tl.constexpr):
    x = tl.arange(0, XBLOCK)
    tmp0 = tl.load(in_ptr0 + x, None, other=triton_helpers.if_mask(None, 0.0))
    tl.static_assert(triton_helpers.constexpr_next_power_of_2(XBLOCK - 1) == XBLOCK)
    tl.static_assert(triton_helpers.is_floating(tmp0))
    tmp1 = triton_helpers.device_assert_then(tl.max(tmp0, 0) < 100, "too large", 1)
    tmp2 = triton_helpers.select_one(tmp0, x == 5, 0)
    tmp3 = triton_helpers.any(tmp0 > 6, 0).to(tl.int32) + 2 * triton_helpers.any(tmp0 > 7, 0).to(tl.int32)
    tmp4 = triton_helpers.prod(tl.where(x < 4, tmp0 + 1, 1), 0)
    tmp5 = triton_helpers.promote_to_tensor(tmp3)
    tmp6 = triton_helpers.randint64(7, x.to(tl.uint32), tl.full([1], 10, tl.int64), tl.full([1], 12, tl.int64))
    tl.store(out_ptr0 + x, tl.where(x == 0, tmp1, tl.where(x == 1, tmp2, tl.where(x == 2, tmp5, tmp4))))
    tl.store(out_ptr1 + x, ((tmp6 == 10) | (tmp6 == 11)).to(tl.int32) + triton_helpers.minimum(x, 1) + triton_helpers.maximum(0, x) * 0)

@triton.jit
def unknown(out_ptr0):
    tl.store(out_ptr0, triton_helpers.no_such_helper(1))
KERNEL

for target in '--target cpu' '--target sm_90a --simulate'; do
  run=(generated.py --run $target --check)
  check "numbers ($target)" 0 'out_ptr0 .*\[-2, -1, -1, -1, .* mean -0\.5$
out_ptr1 .*\[2, 0, 1, 2, .* mean 1$
out_ptr2 .*\[-0\.5, -0\.75, -0\.5, -0\.5, .* max 0\.75  mean -0\.0625$
out_ptr3 .*\[3, 2, 2, 1, .* mean 1\.625$' "${run[@]}" --kernel floors --arg 'in_ptr0=i32[8]:iota' --arg 'out_ptr0=i32[8]' --arg 'out_ptr1=i32[8]' --arg 'out_ptr2=f32[8]' --arg 'out_ptr3=i32[8]' --arg xnumel=8 --grid 1 -D XBLOCK=16
  check "extrema with NaN, sorting with positions ($target)" 0 'out_ptr0 .*\[6, nan\]
out_ptr1 .*\[4, 3\]
out_ptr2 .*\[0, 3\]
out_ptr3 .*\[0, 3, 2, 5, .* mean 3\.5$
out_ptr4 .*\[3, 5, 1, 2, .* mean 3\.5$' "${run[@]}" --kernel rows --arg 'out_ptr0=f32[2]' --arg 'out_ptr1=i32[2]' --arg 'out_ptr2=i32[2]' --arg 'out_ptr3=i16[16]' --arg 'out_ptr4=i16[16]' --grid 1 -D XBLOCK=2
  check "means and sums of exponentials, block by block ($target)" 0 'out_ptr0 .*\[9\.5\]
out_ptr1 .*\[665\]
out_ptr2 .*\[-?0\]
out_ptr3 .*\[1\.58198\]' "${run[@]}" --kernel samples --arg 'out_ptr0=f32[1]' --arg 'out_ptr1=f32[1]' --arg 'out_ptr2=f32[1]' --arg 'out_ptr3=f32[1]' --arg r0_numel=20 --grid 1 -D R0_BLOCK=8
  check "binary search ($target)" 0 'out_ptr0 .*\[0, 1, 2, 3, .* mean 2\.25$
out_ptr1 .*\[1, 2, 3, 3, .* mean 2\.625$' "${run[@]}" --kernel search --arg 'in_ptr0=f32[3]:iota' --arg 'out_ptr0=i64[8]' --arg 'out_ptr1=i64[8]' --grid 1 -D XBLOCK=8
  check "scans across programs ($target)" 0 'out_ptr0 .*\[0, 1, 3, 6, .* max 15
out_ptr1 .*\[0, 1, 3, 6, .* max 15' "${run[@]}" --kernel scan --arg 'ws_ptr=u64[6]:zeros' --arg 'ws64_ptr=u64[18]:zeros' --arg 'out_ptr0=f32[6]' --arg 'out_ptr1=i64[6]' --grid 6
  check "the other functions ($target)" 0 'out_ptr0 .*\[1, 5, 1, 24, .* mean 15\.875$
out_ptr1 .*\[1, 2, 2, 2, .* mean 1\.875$' "${run[@]}" --kernel others --arg 'in_ptr0=f32[8]:iota' --arg 'out_ptr0=f32[8]' --arg 'out_ptr1=i32[8]' --grid 1 -D XBLOCK=8
done
check "a function that is not there" 1 '`triton_helpers` has no `no_such_helper` here \[E0201\]
torch 2\.9' generated.py --kernel unknown --signature 'out_ptr0=*f32' --target sm_90a --emit=ptx
