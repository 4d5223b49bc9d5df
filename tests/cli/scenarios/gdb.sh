# SPDX-License-Identifier: Apache-2.0
# Line tables and variables: gdb stops in a kernel on the CPU, in vectors and thread by thread, steps by lines and shows variables;
# PTX has each line, which ptxas and nvdisasm find again. Without these programs, or where a process may not be traced, their part is
# left out.
export TILE_CACHE_DIR=
cat > steps.tile << 'END'
@jit
def steps(x: ptr[f32], out: ptr[f32], n: i32, BLOCK: constexpr = 64):
    i = program_id(0) * BLOCK + arange(0, BLOCK)
    v = load(x + i, mask=i < n)
    if n > 7:
        v = v * 3.0
    v = v + 1.0
    store(out + i, v, mask=i < n)
END
run=(run steps.tile --target cpu --arg 'x=f32[64]:iota' --arg 'out=f32[64]:zeros' --arg n=64 --grid 1)

# The tables are there only if they are asked for.
status 0 tilec steps.tile --target cpu --emit=llvm
lacks out DICompileUnit
TILE_DEBUG=gdb status 0 tilec steps.tile --target cpu --emit=llvm
has out DICompileUnit
has out '!DILocation(line: 6'
TILE_DEBUG=gdb status 0 tilec "${run[@]}"
has out '[1, 4, 7, 10, ...]'

cat > commands << 'END'
set breakpoint pending on
set confirm off
set width 0
break steps.tile:7
run
next
bt 1
END
if command -v gdb > /dev/null && gdb -batch -ex 'break main' -ex run --args "$(command -v true)" > out 2>&1 && ! grep -q ptrace out; then
  for check in '' --check; do
    TILE_DEBUG=gdb status 0 gdb -nx -batch -x commands --args "$tilec" "${run[@]}" $check
    grep -qE 'hit Breakpoint 1, steps \(x=0x[0-9a-f]+, out=0x[0-9a-f]+, n=64, BLOCK=64\) at steps.tile:7' out || { echo "no arguments"; cat out; exit 1; }
    has out 'v = v + 1.0'
    grep -qE '^#0 .*steps \(.*\) at steps.tile:[3-8]$' out || { echo "no line of the kernel"; cat out; exit 1; }
  done
  show() { # show FILE LINE WORDS...: what gdb prints of variables at that line, without addresses
    local file=$1 line=$2 commands=()
    shift 2
    for word in "${shown[@]}"; do commands+=(-ex "$word"); done
    TILE_DEBUG=gdb status 0 gdb -nx -batch -ex 'set breakpoint pending on' -ex 'set confirm off' -ex 'set width 0' -ex "break $file:$line" \
      -ex run "${commands[@]}" --args "$tilec" "$@"
    sed -n '/^Thread .* hit Breakpoint 1/,$p' out | sed 1,2d | sed -E 's/0x[0-9a-f]+/ADDRESS/g' > seen
    diff -u <(sort expected) <(sort seen) || { echo "gdb shows other variables at $file:$line of tilec $*"; exit 1; }
  }
  # Whole tiles in vectors; a name that gets another type; numbers known at compile time; a scalar of a loop.
  cat > shown.tile << 'END'
@jit
def shown(x: ptr[f32], wide: i64, small: u8, ROWS: constexpr = 2):
    p = x + arange(0, ROWS)[:, None] * 4 + arange(0, 4)[None, :]
    v = load(p)
    odd = v.to(i32) % 2 == 1
    v = v.to(bf16) * 2
    half = v.to(f16)
    total = 0
    for k in range(1, 4):
        total += k * 100
        wide = wide - 1
    most = sum(sum(half, 1), 0)
    large = zeros([1024, 512], dtype=f32)
    large = large + total
    store(p, v.to(f32) + most + sum(sum(large, 1), 0))
END
  shown=('info args' 'info locals' 'print x[3]@2' 'print *p[1][2]' 'print v[1][3] + 1' 'whatis p' 'whatis v')
  cat > expected << 'END'
x = ADDRESS
wide = -3
small = 200 '\310'
ROWS = 2
v = {{0, 2, 4, 6}, {8, 10, 12, 14}}
most = 56
k = 3
total = 600
half = {{0, 2, 4, 6}, {8, 10, 12, 14}}
odd = {{false, true, false, true}, {false, true, false, true}}
v = {{0, 1, 2, 3}, {4, 5, 6, 7}}
p = {{ADDRESS, ADDRESS, ADDRESS, ADDRESS}, {ADDRESS, ADDRESS, ADDRESS, ADDRESS}}
large = <optimized out>
$1 = {3, 4}
$2 = 6
$3 = 15
type = f32 *[2][4]
type = __bf16 [2][4]
END
  show shown.tile 15 run shown.tile --target cpu --arg 'x=f32[8]:iota' --arg wide=0 --arg small=200 --grid 1
  # Thread by thread: the elements of the thread, and functions that stay calls, with their caller.
  cat > called.tile << 'END'
@jit(noinline=True)
def scaled(a, S: constexpr):
    twice = a * S
    return twice + 1

@jit
def called(x: ptr[f32], n: i32):
    i = arange(0, 256)
    r = scaled(n, 2)
    store(x + i, i * 1.0 + r, mask=i < n)
END
  shown=('info args' 'info locals' up 'print i' 'print n')
  cat > expected << 'END'
a = 21
S = 2
twice = 42
#1  ADDRESS in called (x=ADDRESS, n=21) at called.tile:9
9	    r = scaled(n, 2)
$1 = {0, 1}
$2 = 21
END
  show called.tile 4 run called.tile --target cpu --check --arg 'x=f32[256]:zeros' --arg n=21 --grid 1
fi

status 0 tilec steps.tile --target sm_90a --emit=ptx -o steps.ptx
for line in 3 4 7 8; do grep -qE "^[[:space:]]\.loc[[:space:]]1 $line " steps.ptx || { echo "no line $line"; exit 1; }; done
if command -v ptxas > /dev/null; then
  status 0 ptxas -g -arch=sm_90a steps.ptx -o steps.cubin
  status 0 ptxas -lineinfo -arch=sm_90a steps.ptx -o steps.cubin
  if command -v nvdisasm > /dev/null; then
    status 0 nvdisasm -g steps.cubin
    for line in 4 8; do has out "steps.tile\", line $line"; done
  fi
fi
