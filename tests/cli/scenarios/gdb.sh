# SPDX-License-Identifier: Apache-2.0
# Line tables: gdb stops in a kernel on the CPU, in vectors and thread by thread, and steps by lines; PTX has each line, which
# ptxas and nvdisasm find again. Without these programs, or where a process may not be traced, their part is left out.
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
    has out 'hit Breakpoint 1, steps () at steps.tile:7'
    has out 'v = v + 1.0'
    grep -q '^#0 .*steps () at steps.tile:[3-8]$' out || { echo "no line of the kernel"; cat out; exit 1; }
  done
fi

status 0 tilec steps.tile --target sm_90a --emit=ptx -o steps.ptx
for line in 3 4 7 8; do grep -qE "^[[:space:]]\.loc[[:space:]]1 $line " steps.ptx || { echo "no line $line"; exit 1; }; done
if command -v ptxas > /dev/null; then
  status 0 ptxas -lineinfo -arch=sm_90a steps.ptx -o steps.cubin
  if command -v nvdisasm > /dev/null; then
    status 0 nvdisasm -g steps.cubin
    for line in 4 8; do has out "steps.tile\", line $line"; done
  fi
fi
