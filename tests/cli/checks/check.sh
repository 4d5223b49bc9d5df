# SPDX-License-Identifier: Apache-2.0
# --check on the CPU: out-of-bounds accesses, assertions; and missing devices.

run_checked() { # run_checked NAME STATUS PATTERN FILE [more]
  local name=$1 status=$2 patterns=$3 file=$4
  shift 4
  check "$name" "$status" "$patterns" --run "$file" --target cpu --check --arg 'x=f32[100]:rand(0)' \
    --arg 'out=f32[100]:zeros' --arg n=100 --grid 2 "$@"
}

cat > load.tile << 'TILE'
@jit
def f(x: ptr[f32], out: ptr[f32], n: i32):
    i = program_id(0) * 64 + arange(0, 64)
    v = load(x + i)
    store(out + i, v, mask=i < n)
TILE
run_checked "load past the end" 1 'load.tile:4:.*: error: load reads past the end of `x` \[E0801\]
100 elements
mask' load.tile

# Without --check: after a page fault the launch runs again with checks.
unchecked() { # unchecked NAME STATUS PATTERN FILE [more]
  check "$1" "$2" "$3" --run "$4" --target cpu --arg 'x=f32[64]:rand(0)' --arg 'out=f32[256]:zeros' --arg n=256 "${@:5}"
}
unchecked "load past the end, without --check" 1 'load.tile:4:.*: error: load reads past the end of `x` \[E0801\]
64 elements; program \(1, 0, 0\), thread 0 touches index 64
!E0990' load.tile --grid 2
unchecked "load far past the end, without --check" 1 'load.tile:4:.*load reads past the end of `x` \[E0801\]
!E0990' load.tile --grid 100000

sed 's/load(x + i)/load(x + i, mask=i < n)/; s/, mask=i < n)$/)/' load.tile | sed 's/load(x + i)/load(x + i, mask=i < n)/' > store.tile
run_checked "store past the end" 1 'store.tile:5:.*: error: store writes past the end of `out` \[E0802\]' store.tile

check "store past the end, without --check" 1 'store.tile:5:.*store writes past the end of `out` \[E0802\]
64 elements
!E0990' --run store.tile --target cpu --arg 'x=f32[64]:rand(0)' --arg 'out=f32[64]:zeros' --arg n=64 --grid 3000

sed 's/load(x + i)/load(x + i - 1, mask=i < n)/' load.tile > before.tile
run_checked "load before the start" 1 'before the start of `x` \[E0801\]
index -1' before.tile

sed 's/load(x + i)/load(x + i, mask=i < n)/; s/store(out + i, v, mask=i < n)/atomic_add(out + i, v)/' load.tile > atomic.tile
run_checked "atomic operation past the end" 1 'atomic.tile:5:.*`out` \[E0803\]' atomic.tile

sed 's/load(x + i)/load(x + i, mask=i < n)/' load.tile > right.tile
run_checked "a masked kernel is clean" 0 'checked
!error' right.tile

sed '4i\    device_assert(i < 70, "too far")' right.tile > assert.tile
run_checked "assertion" 1 'assert.tile:4:.*too far.*\[E0804\]' assert.tile

if "$tilec" --doctor 2> /dev/null | grep -q 'cuda:0'; then
  skip "no GPU" "there is one"
else
  check "no GPU" 69 '\[E0810\]
--target cpu' --run right.tile --target sm_90a --arg 'x=f32[100]' --arg 'out=f32[100]' --arg n=100 --grid 2
fi

# A masked load never becomes one without a mask, whatever instruction takes it (lowering/llvm/codegen.c).
cat > masked_sum.tile <<'TILE'
@jit
def masked_sum(a: const_ptr[f32], b: const_ptr[f32], c: const_ptr[f32], out: ptr[f32], BLOCK: constexpr = 128):
    x = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    is_there = x < 208
    first = x < 96
    middle = (x < 192) & (96 <= x)
    last = 192 <= x
    u = tl.load(a + x, mask=is_there & first)
    v = tl.load(b + x - 96, mask=is_there & middle)
    w = tl.load(c + x - 192, mask=is_there & last)
    tl.store(out + x, tl.where(last, w * 0.5, 0.0) + tl.where(middle, v * 0.25, 0.0) + u, mask=is_there)
TILE
check "masked loads stay within their buffers" 0 'out  *f32.208. .*1, 1' run masked_sum.tile --target cpu --grid 2 --arg 'a=f32[96]:ones' --arg 'b=f32[96]:ones' \
  --arg 'c=f32[16]:ones' --arg 'out=f32[208]'
check "masked loads keep their masks" 0 '!vmovups.*\(.*zmm[0-9]*$' masked_sum.tile --emit=asm --target cpu:x86-64-v4
