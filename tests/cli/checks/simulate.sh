# SPDX-License-Identifier: Apache-2.0
# --simulate: kernels run as PTX without a GPU; violations are reported at the instruction.

cat > simulated.tile << 'TILE'
@jit
def f(x: ptr[f32], out: ptr[f32], n: i32):
    i = program_id(0) * 64 + arange(0, 64)
    v = load(x + i)
    store(out + i, v, mask=i < n)
TILE
sed 's/load(x + i)/load(x + i, mask=i < n)/' simulated.tile > masked.tile
simulate() { # simulate NAME STATUS PATTERN FILE [more]
  local name=$1 status=$2 patterns=$3 file=$4
  shift 4
  check "simulated: $name" "$status" "$patterns" --run "$file" --simulate --arg 'x=f32[100]:iota' \
    --arg 'out=f32[100]:zeros' --arg n=100 --grid 2 "$@"
}

for target in sm_80 sm_90a; do
  simulate "a masked kernel on $target" 0 "simulated $target
out.*max 99
!error" masked.tile --target $target --check
done
simulate "load past the end" 1 'simulated.tile:4:.*: error: load reads past the end of `x` \[E0801\]
`x` has 100 elements; program \(1, 0, 0\), thread 36 touches index 100
instruction: .*ld.global
mask' simulated.tile --target sm_80 --check
simulate "accesses are compared without --check, too" 1 '\[E0801\]' simulated.tile --target sm_80
simulate "JSON" 0 '"device": ?"simulated sm_90a"' masked.tile --target sm_90a --json

sed 's/load(x + i, mask=i < n)/load(x + i - 1, mask=i < n)/' masked.tile > before.tile
simulate "load before the start" 1 'before the start of `x` \[E0801\]
index -1' before.tile --target sm_90a --check

sed '4i\    device_assert(i < 70, "too far")' masked.tile > assert.tile
simulate "assertion" 1 'assert.tile:4:.*too far.*\[E0804\]' assert.tile --target sm_80 --check
simulate "assertions are left out without --check" 0 '!E0804' assert.tile --target sm_80

sed '5i\    device_print("v", v, i < 2)' masked.tile > print.tile
sed 's/device_print("v", v, i < 2)/device_print("v", v)/' print.tile > print1.tile
simulate "device_print" 0 'pid \(1, 0, 0\) idx \(35\) v: 99' print1.tile --target sm_80

cat > spin.tile << 'TILE'
def spin(flag: ptr[i32]):
    while atomic_add(flag, 0) == 0:
        pass
TILE
export TILE_SIMULATE_LIMIT=10000
check "simulated: a launch that does not end" 1 'spin.tile:2:.*does not end.*\[E0817\]' --run spin.tile --target sm_80 --simulate \
  --arg 'flag=i32[1]:zeros' --grid 1
unset TILE_SIMULATE_LIMIT

cat > assembly.tile << 'TILE'
def f(x: ptr[i32], out: ptr[i32]):
    i = arange(0, 32)
    v = inline_asm_elementwise("{ .reg .b32 t; add.s32 $0, $1, t; }", "=r,r", [load(x + i)], i32, True, 1)
    store(out + i, v)
TILE
assembly() {
  check "simulated: $1" "$2" "$3" --run "$4" --target sm_80 --simulate --check --arg 'x=i32[32]:iota' \
    --arg 'out=i32[32]:zeros' --grid 1
}
assembly "a register that nothing wrote" 1 'assembly.tile:[34]:.*nothing wrote.*\[E0815\]' assembly.tile
sed 's/add.s32/mov.b32 t, 5; add.s32/' assembly.tile > written.tile
assembly "assembly" 0 'max 36
!error' written.tile
sed 's/add.s32 $0, $1, t/frobnicate.s32 $0, $1/' assembly.tile > unknown.tile
assembly "an unknown instruction" 1 'frobnicate.*\[E0813\]' unknown.tile

cat > overlap.tile << 'TILE'
@jit
def f(x: ptr[f32], out: ptr[f32], n: i32):
    i = program_id(0) * 64 + arange(0, 64)
    store(out + i - program_id(0) * 32, load(x + i, mask=i < n, other=5.0), mask=i < n)
TILE
simulate "two programs store different values" 1 'overlap.tile:4:5: error: race in global memory.*\[E0818\]
program \([01], 0, 0\), thread [0-9]+ writes element [3-6][0-9] of `out`
program \([01], 0, 0\), thread [0-9]+ writes it' overlap.tile --target sm_80 --check
simulate "without --check they may" 0 '!error' overlap.tile --target sm_80
sed 's/load(x + i, mask=i < n, other=5.0)/full([64], 3.0, f32)/' overlap.tile > same.tile
simulate "two programs store the same value" 0 'max 3
!error' same.tile --target sm_90a --check
cat > accumulate.tile << 'TILE'
def f(out: ptr[f32]):
    i = program_id(0) * 128 + arange(0, 128)
    store(out + i, load(out + i) + 1.0)
TILE
accumulate() {
  check "simulated: $1" "$2" "$3" --run accumulate.tile --target sm_90a --simulate --check --arg "out=f32[256]:$4" --grid 2
}
accumulate "an output that is read before it is written" 1 'accumulate.tile:3:.*nothing wrote.*\[E0815\]
element [0-9]+ of `out` was read' empty
accumulate "an output that was filled" 0 'max 1
!error' zeros
cat > mirror.tile << 'TILE'
def f(x: ptr[f32]):
    i = arange(0, 256)
    store(x + i, load(x + i) + 1.0)
    store(x + 256 + i, load(x + 255 - i))
TILE
sed '3a\    debug_barrier()' mirror.tile > barrier.tile
mirror() {
  check "simulated: $1" "$2" "$3" --run "$4" --target sm_80 --simulate --check --arg "x=f32[512]:iota" --grid 1
}
mirror "threads of a program without a barrier" 1 'mirror.tile:4:.*race in global memory.*\[E0818\]' mirror.tile
mirror "and with one" 0 '!error' barrier.tile

check "--simulate without --run" 2 '`--simulate` is for `--run` \[E0703\]' masked.tile --target sm_80 --simulate
check "--simulate with --bench" 2 '\[E0703\]' --bench masked.tile --target sm_80 --simulate
check "--simulate without a target" 2 'needs a GPU to simulate \[E0703\]' --run masked.tile --simulate
check "--simulate of the cpu" 2 'not that of the CPU \[E0703\]' --run masked.tile --simulate --target cpu

cat > simulated.py <<'GRAPH'
def forward(self, x: "f32[3, 100]", y: "f32[100, 5]"):
    mm = torch.ops.aten.mm.default(x, y)
    sin = torch.ops.aten.sin.default(mm)
    return (sin,)
GRAPH
check "simulated: a graph" 0 'on simulated sm_80
checked +against the reference interpreter' --graph simulated.py --run --check --target sm_80 --simulate
check "simulated: a graph, without a target" 2 'needs a GPU to simulate \[E0703\]' --graph simulated.py --run --simulate
