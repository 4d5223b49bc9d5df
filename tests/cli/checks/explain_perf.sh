# SPDX-License-Identifier: Apache-2.0
# --explain-perf: the report of a kernel's costs.

cat > costs.tile <<'END_OF_KERNEL'
import triton.language as tl

@jit
def turn(x: ptr[f32] % 16, out: ptr[f32] % 16, idx: ptr[i32], n: i32):
    i = tl.arange(0, 64)
    a = tl.load(x + i[:, None] * 64 + i[None, :])
    for k in range(10):
        a += tl.load(x + i[None, :] * n + i[:, None] + k)
    s = tl.sum(a, axis=0)
    tl.store(out + i[:, None] + i[None, :] * 64, a)
    tl.store(out + tl.load(idx + i), s)

@jit
def wide(x: ptr[f32] % 16, out: ptr[f32] % 16, n: i32):
    i = tl.arange(0, 65536)
    v = tl.load(x + i, mask=i < n, other=0.0)
    v = v - tl.max(v, axis=0)
    tl.store(out + i, v / tl.sum(v, axis=0), mask=i < n)
END_OF_KERNEL
check "says what a kernel costs" 0 '`turn` for sm_90a, 4 warps$
^  8:14 +load +x +64x64xf32 +1 wide
not 4 wide: the pointer.s offset is not known to be divisible by 4
^  10:5 +store +out +64x64xf32
^  11:5 +store +out +64xf32 +1 wide, 32 of 4 sectors
not 4 wide: the addresses are not known to be consecutive
a program reads 180480 bytes and writes 16640$
^  9:9 +64x64xf32 +axis 0: 2 steps in the thread, 4 across lanes
^  9:9 +64xf32 +by shared memory, 256 bytes, [0-9]+ wavefronts of at least
^  6:9 +64x64xf32 +by shared memory, 16384 bytes
^shared memory: 16640 of 232448 bytes, 2 barriers$
ptxas was not found
^occupancy: 13 programs of 4 warps a multiprocessor \(52 of 64 warps\), limited by shared memory' \
  costs.tile --kernel turn --target sm_90a --explain-perf --ptxas none
check "registers that wait" 0 'element by element where the mask cuts a vector
^shared memory: 114944 of 232448 bytes, 2 barriers$
^  114688 bytes for registers spilled to shared memory
across warps through 128 bytes and one barrier
64 elements a thread
!bytes spilled' costs.tile --kernel wide --num-warps 32 --target sm_90a --explain-perf --ptxas none
check "products and what feeds them" 0 '^  [0-9:]+ +copy +a +128x64xf16 +8 wide, 16 of 16 sectors$
^  [0-9:]+ +copy +b +64x256xf16 +8 wide, 16 of 16 sectors$
^  a program reads 49152 bytes and writes 65536, with one trip
^  [0-9:]+ +128x256xf32 +128 x mma.sync.m16n8k16.f32.f16.f16.f32 a warp$
^  [0-9:]+ +128x64xf16 +49152 bytes from [0-9]+ on for a ring of 3 buffers: `a`$
^  [0-9:]+ +64x256xf16 +98304 bytes from [0-9]+ on for a ring of 3 buffers: `b`$' \
  "$root/tutorials/06-matmul/matmul.tile" --kernel matmul --signature N=i32:16,K=i32:16 --num-warps 8 -D BLOCK_N=256 \
  --target sm_80 --explain-perf --ptxas none
check "who loads without a producer" 0 '^          operand A, `a`, comes by cp.async of all warps, through a ring of 3 buffers of 16384 bytes$
^          operand B, `b`, comes by cp.async of all warps, through a ring of 3 buffers of 32768 bytes$
^  8 warps load and compute$
^  no loop over tiles: the kernel is not persistent$
^  clusters: none$
!setmaxnreg' \
  "$root/tutorials/06-matmul/matmul.tile" --kernel matmul --signature N=i32:16,K=i32:16 --num-warps 8 -D BLOCK_N=256 \
  --target sm_90a --explain-perf --ptxas none
sizes='M=i32:16,N=i32:16,K=i32:16,a_stride=i32:16,b_stride=i32:16,c_stride=i32:16'
persistent="$root/tutorials/09-persistent-matmul/persistent.tile"
check "a producer, rings and registers by warpgroup" 0 '^  [0-9:]+ +load +a +128x64xf16 +by TMA$
^  [0-9:]+ +store +c +128x64xf16 +by TMA$
^  a program reads 49152 bytes and writes 65536, with one trip
^  [0-9:]+ +128x256xf32 +4 x wgmma.m64n256k16 a warp$
^          operand A, `a`, comes by TMA, from the producer warps, through a ring of 4 buffers of 16384 bytes$
^          operand B, `b`, comes by TMA, from the producer warps, through a ring of 4 buffers of 32768 bytes$
^  [0-9:]+ +128x64xf16 +65536 bytes from [0-9]+ on for a ring of 4 buffers: `a`$
^  [0-9:]+ +128x64xf16 +16384 bytes from [0-9]+ on for a tile that TMA stores: `c`$
^  [0-9:]+ +8xi64 +64 bytes from [0-9]+ on for the mbarriers of a ring: `a, b`$
^  8 warps compute, 4 more only issue copies \(the producer\)$
^  registers a thread \(setmaxnreg\): 232 of warps that compute, 40 of the producer, 168 of all at first$
^  32:5 +a program computes several tiles \(a persistent kernel\)$
^occupancy: 1 program of 12 warps a multiprocessor \(12 of 64 warps\), limited by registers$
^  programs that each allows: warps 5, programs 32, shared memory 1, registers 1$' \
  "$persistent" --signature $sizes --num-warps 8 --target sm_90a --explain-perf --ptxas none
check "the same in JSON" 0 '"operands": \[\{"engine": "TMA", "parameter": "a", "in_shared": true\}, \{"engine": "TMA", "parameter": "b", "in_shared": true\}\]
"use": "mbarriers", "engine": "computed"
"warps": \{"computing": 8, "producer": 4, "registers": \{"entry": 168, "computing": 232, "producer": 40\}, "persistent_loop": "32:5", "cluster": 1\}
"limits": \{"warps": 5, "programs": 32, "shared_memory": 1, "registers": 1\}' \
  "$persistent" --signature $sizes --num-warps 8 --target sm_90a --explain-perf --json --ptxas none
check "without its producer" 0 '^          operand A, `a`, comes by cp.async of all warps, through a ring of 4 buffers
^  8 warps load and compute$
!by TMA' "$persistent" --signature $sizes --num-warps 8 --target sm_90a --warp-specialize off --explain-perf --ptxas none
check "an unknown choice" 2 'unknown value `maybe` of `--warp-specialize`
one of `auto`, `on`, `off`' "$persistent" --warp-specialize maybe
check "products by warpgroups" 0 '^  [0-9:]+ +128x256xf32 +4 x wgmma.m64n256k16 a warp$' \
  "$root/tutorials/06-matmul/matmul.tile" --kernel matmul --signature N=i32:16,K=i32:16 --num-warps 8 -D BLOCK_N=256 \
  --target sm_90a --explain-perf --ptxas none
check "a copy that is narrow says why" 0 '^  [0-9:]+ +load +a
not 8 wide' \
  "$root/tutorials/06-matmul/matmul.tile" --kernel matmul --target sm_80 --explain-perf --ptxas none
check "products in JSON" 0 '"products": \[\{"location": "[0-9:]+", "type": "128x256xf32", "instruction": "mma.sync.m16n8k16.f32.f16.f16.f32", "count": 128, "operands": \[\{"engine": "cp.async", "parameter": "a", "in_shared": true\}
"copies": 3' \
  "$root/tutorials/06-matmul/matmul.tile" --kernel matmul --signature N=i32:16,K=i32:16 --num-warps 8 -D BLOCK_N=256 \
  --target sm_80 --explain-perf --json --ptxas none
check "as JSON" 0 '"accesses": \[\{"location": "6:9"
"bytes_read": 180480
"ptxas": null
"limited_by": "shared memory"' costs.tile --kernel turn --target sm_90a --explain-perf --json --ptxas none
check "a stage that is asked for is written" 0 'func.func @turn
!occupancy' costs.tile --kernel turn --target sm_90a --explain-perf --emit=tilegpu
if [ -z "$(command -v ptxas)" ]; then
  skip "wide rows do not spill" "no ptxas"
else
  for warps in 16 32; do
    check "wide rows do not spill, $warps warps" 0 '[0-9]+ registers a thread, 0 bytes spilled' \
      costs.tile --kernel wide --num-warps $warps --target sm_90a --explain-perf
  done
fi

# The report names the parameters that keep an access narrow.
cat > strided.tile << 'END_OF_KERNEL'
@jit
def strided(x: ptr[f32] % 16, out: ptr[f32], pitch: i32, offset: i32 % 16, N: constexpr = 1024):
    i = arange(0, N)
    v = load(x + program_id(0) * pitch + offset + i)
    store(out + program_id(0) * N + i, v)
END_OF_KERNEL
check "names the stride that is not divisible, and not the others" 0 'divisible by 4, because of `pitch`$
divisible by 4, because of `out`$
!because of .*offset' compile strided.tile --explain-perf --target sm_90a
check "nothing to name where all is promised" 0 '^ +4:9 +load +x .*4 wide
!because of' compile strided.tile --explain-perf --target sm_90a --signature pitch=i32:16,out=*f32:16

# ---- processors ----

check "a processor: vectors of AVX-512, bytes of a program, the share that memory allows" 0 '^strided.tile: `strided` for `cpu:x86-64-v4`, loops over vectors$
^  32 vector registers of 512 bits; the widest that is used has 512$
^  0 vectors stored to the stack, 0 loaded from it$
^  reads 4096 bytes and writes 4096, without masks$
!sm_80
!multiprocessor' compile strided.tile --explain-perf --target cpu:x86-64-v4 --signature out=*f32:16
check "of AVX2, with operations" 0 '^  16 vector registers of 256 bits; the widest that is used has 256$
^  [0-9.]+ operations a byte: if caches hold nothing, memory .* allows [0-9.]+ % of the peak of 32 a cycle$
' compile costs.tile --kernel turn --explain-perf --target cpu:x86-64-v3
check "of NEON" 0 '^  32 vector registers of 128 bits; the widest that is used has 128$' compile strided.tile --explain-perf --target cpu:aarch64

# An edit that does not gain is no proposal.
printf '@jit\ndef move(a: ptr[f32], b: ptr[f32], n: i32, T: constexpr = 512):\n  i = program_id(0) * T + arange(0, T)\n  store(b + i, load(a + i, mask=i < n), mask=i < n)\n' > move.tile
check "edits that do not gain are left out" 0 'not 4 wide
none is predicted to be faster
!slower
!\+\+\+\+\+' move.tile --target sm_90a --explain-perf
