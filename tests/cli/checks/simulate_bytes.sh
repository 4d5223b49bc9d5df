# SPDX-License-Identifier: Apache-2.0
# Integers of 8 bits, four at a time: conversions to half precision and bits, for all 256 values, bit by bit against 32 bits.

cat > bytes.tile << 'KERNEL'
@jit
def wrong(got, want):  # also the sign of zero
    return (got.to(f32).to(i32, bitcast=True) != want.to(f32).to(i32, bitcast=True)).to(i32)

@jit
def check(x: const_ptr[u8] % 16, out: ptr[i32] % 16, seen: ptr[i32] % 16):
    i = arange(0, 256)
    u = load(x + i)
    s = u.to(i8, bitcast=True)
    wide = u.to(i32)
    narrow = s.to(i32)
    bad = wrong(u.to(f16), wide) + wrong(s.to(f16), narrow)
    bad += wrong(u.to(bf16), wide) + wrong(s.to(bf16), narrow)
    bad += wrong((u & 15).to(f16) - 8.0, (wide & 15) - 8) + wrong((u >> 4).to(f16), wide >> 4)
    bad += wrong((u >> 4).to(bf16) - 8.0, (wide >> 4) - 8) + wrong((u & 15).to(bf16), wide & 15)
    bad += wrong((u ^ 90).to(f16), wide ^ 90) + wrong((u | 64).to(bf16), wide | 64)
    bad += wrong((s >> 3).to(f16), narrow >> 3)
    store(out + i, bad + 7)
    store(seen + i, wide)
KERNEL
for target in sm_80 sm_90a; do
  for warps in 1 2; do # 8 and 4 elements a thread
    check "all bytes, $target, $warps warps" 0 'min 7 +max 7 
seen .*min 0 +max 255 ' --run bytes.tile --kernel check --target $target --simulate --check --num-warps $warps --arg 'x=u8[256]:iota' --arg 'out=i32[256]:zeros' --arg 'seen=i32[256]:zeros' --grid 1
  done
done
check "a byte becomes half a word by one permutation" 0 'prmt.b32
sub.rn.bf16x2' bytes.tile --kernel check --target sm_90a --emit=ptx --num-warps 1
check "conversions of single bytes are gone" 0 '!cvt.rn.f16.s16|cvt.rn.f16.u16' bytes.tile --kernel check --target sm_90a --emit=ptx --num-warps 1
