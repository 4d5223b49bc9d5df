# SPDX-License-Identifier: Apache-2.0
# Object files of kernels with their C header, linked without any library.
cat > norm.tile <<'KERNEL'
@jit
def norm(x: const_ptr[f32] % 16, out: ptr[f32] % 16, scale: f32, columns: i32, BLOCK: constexpr = 64):
    j = arange(0, BLOCK)
    at = (program_id(1) * num_programs(0) + program_id(0)) * columns + j
    v = load(x + at, mask=j < columns, other=0.0)
    store(out + at, v * scale / sqrt(tl.sum(v * v, axis=0) / columns.to(f32)), mask=j < columns)

@jit
def show(x: ptr[f32]):
    device_print("x", load(x))
KERNEL
cat > main.c <<'C'
#include "norm.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { ROWS = 35, COLUMNS = 50 };
_Alignas(64) static float x[ROWS * COLUMNS], out[ROWS * COLUMNS];
_Alignas(64) static char scratch[NORM_SCRATCH];

int main(void) {
  const uint32_t grid[3] = {7, 5, 1};
  int i, r, wrong = 0;
  unsigned long long bits = 0;
  for (i = 0; i < ROWS * COLUMNS; i++)
    x[i] = (float)((i * 37) % 101) / 8 - 3;
  norm_run(grid, 10, 25, scratch, x, out, 2.5f, COLUMNS); /* in two parts, the second first */
  norm_run(grid, 0, 10, scratch, x, out, 2.5f, COLUMNS);
  for (r = 0; r < ROWS; r++) {
    double sum = 0;
    for (i = r * COLUMNS; i < (r + 1) * COLUMNS; i++)
      sum += (double)x[i] * x[i];
    for (i = r * COLUMNS; i < (r + 1) * COLUMNS; i++)
      wrong += !(fabs(out[i] - x[i] * 2.5 / sqrt(sum / COLUMNS)) < 1e-5);
  }
  for (i = 0; i < ROWS * COLUMNS * 4; i++)
    bits = bits * 31 + ((unsigned char *)out)[i];
  printf("%llu\n", bits);
  return wrong != 0;
}
C
strict="-std=c11 -O1 -Wall -Wextra -Wpedantic -Wconversion -Wno-float-conversion -Wno-conversion -Werror"
runs() { # runs TARGET COMPILER EMULATOR
  status 0 tilec compile norm.tile --kernel norm --target "$1" --emit=object -o norm.o
  status 0 tilec compile norm.tile --kernel norm --target "$1" --emit=object-header -o norm.h
  has norm.h "Code for $1"
  status 0 "$2" $strict main.c norm.o -o main -lm
  status 0 $3 ./main
  if [ -s first ]; then cmp first out; else cp out first; fi
}
if [ "$(uname -m)" = x86_64 ]; then
  grep -q avx2 /proc/cpuinfo && runs cpu:x86-64-v3 cc
  grep -q avx512vl /proc/cpuinfo && runs cpu:x86-64-v4 cc
fi
emulator=$(command -v qemu-aarch64-static || command -v qemu-aarch64)
if ! tilec compile norm.tile --kernel norm --target cpu:aarch64 --emit=asm > arm.s 2> err; then
  has err 'LLVM was built without a code generator for the target'
elif ! grep -q fmul arm.s; then
  exit 1
elif command -v aarch64-linux-gnu-gcc > cross && [ -n "$emulator" ]; then
  strict="$strict -static" runs cpu:aarch64 aarch64-linux-gnu-gcc "$emulator"
fi

# Assembly has the registers of its target.
status 0 tilec compile norm.tile --kernel norm --target cpu:x86-64-v4 --emit=asm
has out 'norm:'
has out '%zmm'
status 0 tilec compile norm.tile --kernel norm --target cpu:x86-64-v3 --emit=asm
has out '%ymm'
lacks out '%zmm'

# What needs the executor of libtile-rt has no header; mistakes are named.
status 1 tilec compile norm.tile --kernel show --target cpu:x86-64-v3 --emit=object-header
has err 'norm.tile:1:1: error: kernel `show` runs thread by thread'
status 2 tilec compile norm.tile --kernel norm --target sm_80 --emit=object-header
has err 'object code is made for the CPU only [E0703]'
status 2 tilec compile norm.tile --kernel norm --target sm_80 --emit=asm
has err 'assembly is made for the CPU only [E0703]'
status 2 tilec compile norm.tile --target cpu:x86-64-v5 --emit=object
has err 'unknown target `cpu:x86-64-v5` [E0704]'
status 2 tilec compile norm.tile --target avx2 --emit=object
has err 'cpu:x86-64-v3'
status 2 tilec run norm.tile --kernel norm --target cpu:aarch64
has err '`--target cpu:aarch64` is for code that is made ahead of time [E0703]'
status 2 tilec graph "$HERE/../../aot/processor/gpt.py" --emit=c --target cpu --target sm_90a -o made
has err 'the kernels of a graph are chosen for one GPU, or for processors [E0703]'
