# SPDX-License-Identifier: Apache-2.0
# Functions as values of compile-time parameters, by their names.

cat > activations.py <<'MODULE'
import triton

@triton.jit
def thrice(x):
    return x * 3
MODULE

cat > apply.py <<'KERNEL'
import triton
import triton.language as tl
from activations import thrice

@triton.jit
def twice(x):
    return x * 2

@triton.jit
def larger(a, b):
    return tl.where(a > b, a, b)

@triton.jit
def through(x, ACTIVATION: tl.constexpr):
    return ACTIVATION(x)

@triton.jit
def apply(x, out, ACTIVATION: tl.constexpr, COMBINE: tl.constexpr):
    i = tl.arange(0, 4)
    v = tl.load(x + i)
    if ACTIVATION is not None:
        v = through(v, ACTIVATION) + (100 if ACTIVATION == "twice" else 0)
    tl.store(out + i % 2, tl.reduce(v, 0, COMBINE), mask=i < 2)
KERNEL
apply=(apply.py --run --kernel apply --target cpu --arg 'x=f32[4]:iota' --arg 'out=f32[2]' --grid 1)

check "functions of the file" 0 'out .*\[106, 106\]' "${apply[@]}" -D ACTIVATION=twice -D COMBINE=larger
check "a function of an import" 0 'out .*\[9, 9\]' "${apply[@]}" -D ACTIVATION=thrice -D COMBINE=larger
check "functions of the language" 0 'out .*\[1, 1\]' "${apply[@]}" -D ACTIVATION=exp -D COMBINE=tl.minimum
check "no function" 0 'out .*\[3, 3\]' "${apply[@]}" -D ACTIVATION=None -D COMBINE=larger
check "a name of nothing" 1 "\`ACTIVATION\` is the text 'nothing' \[E0707\]
a function of the kernel's file
note: .'nothing'. cannot be called" "${apply[@]}" -D ACTIVATION=nothing -D COMBINE=larger
