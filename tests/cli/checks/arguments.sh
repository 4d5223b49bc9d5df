# SPDX-License-Identifier: Apache-2.0
# --arg, --grid, --out, --expect on the CPU.

add_with() { # add_with NAME STATUS PATTERN X OUT N GRID [more]: vector add with some arguments replaced
  local name=$1 status=$2 patterns=$3 x=$4 out=$5 length=$6 grid=$7
  shift 7
  check "$name" "$status" "$patterns" --run "$add" --target cpu --arg "x=$x" --arg 'y=f32[100]:rand(1)' \
    --arg "out=$out" --arg "n=$length" --grid "$grid" -D BLOCK=64 "$@"
}
x='f32[100]:rand(0)' out='f32[100]:zeros' grid='cdiv(n,BLOCK)'

check "a source that can be read once" 0 'out +f32\[100\]' --run <(cat "$add") --target cpu --arg "x=$x" \
  --arg 'y=f32[100]:rand(1)' --arg "out=$out" --arg n=100 --grid "$grid" -D BLOCK=64
add_with "runs" 0 'out +f32\[100\]' "$x" "$out" 100 "$grid"
add_with "runs, as JSON" 0 '^\{"kernel": "add"
"out": \{"dtype": "f32", "shape": \[100\]' "$x" "$out" 100 "$grid" --json
add_with "checked" 0 'checked' "$x" "$out" 100 "$grid" --check

# Arguments.
add_with "malformed argument" 1 'rnad.*\[E0720\]
did you mean `rand`' 'f32[100]:rnad(0)' "$out" 100 "$grid"
add_with "absurd array" 75 '\[E0911\]' 'f32[999999x999999x999999]' "$out" 100 "$grid"
add_with "no memory for an array" 75 '\[E0991\]' 'f32[17592186044415]' "$out" 100 "$grid"
add_with "unknown argument" 1 'no run-time parameter `z` \[E0721\]' "$x" "$out" 100 "$grid" --arg z=1
add_with "misspelled argument" 1 'did you mean `out`' "$x" "$out" 100 "$grid" --arg 'oout=f32[1]'
check "argument missing" 1 'no value for parameter `n` \[E0722\]' --run "$add" --target cpu --arg "x=$x" \
  --arg 'y=f32[100]' --arg "out=$out" --grid 2
add_with "array where a number is wanted" 1 '\[E0723\]' "$x" "$out" 'i32[4]:iota' 2
add_with "number where an array is wanted" 1 '\[E0723\]' 5 "$out" 100 "$grid"
add_with "elements of another type" 1 'points to f32, not to f16 \[E0714\]' 'f16[100]' "$out" 100 "$grid"
add_with "real number where an integer is wanted" 1 '\[E0723\]' "$x" "$out" 1.5 2
add_with "compile-time parameter as argument" 1 '-D BLOCK=' "$x" "$out" 100 "$grid" --arg BLOCK=64

# None for an optional parameter.
cat > optional.tile <<'KERNEL'
@jit
def k(x, b, out, n: i32, scale=None, BLOCK: constexpr = 128):
    i = program_id(0) * BLOCK + arange(0, BLOCK)
    v = load(x + i, mask=i < n)
    if b is not None:
        v += load(b + i, mask=i < n)
    if scale is not None:
        v *= scale
    store(out + i, v, mask=i < n)
KERNEL
optional=(--run optional.tile --target cpu --arg 'x=f32[100]:ones' --arg 'out=f32[100]' --arg n=100 --grid 1)
check "None" 0 'out .*\[1, 1,
!^  b ' "${optional[@]}" --arg b=None
check "None by --signature" 0 'out .*\[1, 1,' "${optional[@]}" --signature b=None
check "an optional parameter that is given" 0 'out .*\[2, 2,' "${optional[@]}" --arg 'b=f32[100]:ones'
check "a default that is None, and another value" 0 'out .*\[6, 6,' "${optional[@]}" --arg 'b=f32[100]:ones' --arg scale=3.0
check "None, compiled for a GPU and simulated" 0 'out .*\[1, 1,' --run optional.tile "${optional[@]:4}" --arg b=None \
  --simulate --check --target sm_90a
check "None is no value of a typed number" 1 'declared i32 and cannot be None \[E0723\]' --run optional.tile --target cpu \
  --arg 'x=f32[100]' --arg 'out=f32[100]' --arg b=None --arg n=None --grid 1
check "None and an array" 1 'None by `--signature` \[E0723\]' "${optional[@]}" --arg 'b=f32[100]' --signature b=None
check "None in PTX: three parameters" 0 'k_param_2
!k_param_3' optional.tile --target sm_80 --emit=ptx --signature 'x=*f32,b=None,out=*f32'
check "None for a typed number" 1 '`n` is declared i32 and cannot be None \[E0413\]' optional.tile --target sm_80 --emit=ptx \
  --signature 'x=*f32,b=None,out=*f32,n=None'
check "a malformed None" 2 'unknown type \[E0706\]' optional.tile --target sm_80 --signature 'x=*f32,b=None:16'
check "benchmark with None" 0 'grid \(1, 1, 1\)' --bench "${optional[@]:1}" --arg b=None --repeats 3

# Tuples.
cat > tuples.py <<'KERNEL'
import triton
import triton.language as tl

@triton.jit
def k(pointers, strides, out, SHAPE: tl.constexpr):
    i = tl.arange(0, SHAPE[0])
    outer, (inner, bias) = strides
    v = tl.load(pointers[0] + i * inner)
    for p in pointers[1:]:
        v += tl.load(p + i)
    if bias is not None:
        v += bias
    tl.store(out + i, v * outer + SHAPE[1])
KERNEL
tuples=(tuples.py -D 'SHAPE=(16,1000)' --arg 'out=i32[16]' --grid 1)
check "tuples of numbers and pointers" 0 'pointers\[1\] +i32\[16\]
out .*\[1015, 1025, 1035' --run "${tuples[@]}" --target cpu --check --arg 'pointers=(i32[16]:iota,i32[16]:ones)' --arg 'strides=(10,(1,0.5))' \
  --signature 'strides=(i32,(i32,f32))'
check "a tuple of one, None in a tuple, on a simulated GPU" 0 'out .*\[1000, 1010, 1020' --run "${tuples[@]}" --target sm_90a --simulate --check \
  --arg 'pointers=(i32[32]:iota,)' --arg 'strides=(10,(1,None))'
check "benchmark with tuples" 0 'grid \(1, 1, 1\)' --bench "${tuples[@]}" --target cpu --repeats 3 --arg 'pointers=(i32[16],)' --arg 'strides=(10,(1,None))'
check "tuning with tuples" 0 '1 of 1 configurations measured' --autotune "${tuples[@]}" --target cpu --space 'num_warps=4' \
  --arg 'pointers=(i32[16],)' --arg 'strides=(10,(1,None))' --tune-file tuples.tune.json
cat > named.tile <<'KERNEL'
from collections import namedtuple
from typing import NamedTuple

Strides = namedtuple("Strides", ["row", "col"])
Matrix = NamedTuple("Matrix", [("data", tl.tensor), ("strides", Strides), ("rows", int)])


@jit
def at(m, i, j):
  return m.data + i * m.strides.row + j * m.strides.col


@jit
def transpose(a: Matrix, b: Matrix, N: constexpr = 8):
  i = arange(0, N)[:, None]
  j = arange(0, N)[None, :]
  inside = (i < a.rows) & (j < b.rows)
  data, strides, rows = b
  store(data + j * strides.row + i * strides.col, load(at(a, i, j), mask=inside), mask=inside)
KERNEL
check "arguments that are named tuples" 0 'b\[0\] +i32\[5x3\] +\[0, 5, 10, 1, ' run named.tile --target cpu --check --grid 1 --arg 'a=(i32[3x5]:iota,(5,1),3)' \
  --arg 'b=(i32[5x3],(3,1),5)'
check "the same on a simulated GPU" 0 'b\[0\] +i32\[5x3\] +\[0, 5, 10, 1, ' run named.tile --target sm_80 --simulate --check --grid 1 \
  --arg 'a=(i32[3x5]:iota,(5,1),3)' --arg 'b=(i32[5x3],(3,1),5)'
check "too few values for a named tuple" 1 'named.tile:14:.*`Matrix` has 3 fields, and the argument 2 values \[E0501\]
give a value for each of `data`, `strides`, `rows`' run named.tile --target cpu --grid 1 --arg 'a=(i32[3x5]:iota,(5,1))' --arg 'b=(i32[5x3],(3,1),5)'
check "too many values for one within" 1 '`Strides` has 2 fields, and the argument 3 values \[E0501\]' run named.tile --target cpu --grid 1 \
  --arg 'a=(i32[3x5]:iota,(5,1,1),3)' --arg 'b=(i32[5x3],(3,1),5)'
check "an empty tuple" 1 'it is empty \[E0720\]' --run "${tuples[@]}" --target cpu --arg 'pointers=()' --arg 'strides=(10,(1,None))'
check "an element that is missing" 1 'cannot unpack 1 values into 2 names \[E0218\]' --run "${tuples[@]}" --target cpu --arg 'pointers=(i32[16],)' --arg 'strides=(10,(1,))'
check "a malformed element" 1 '\[E0720\]' --run "${tuples[@]}" --target cpu --arg 'pointers=(i32[16],x)' --arg 'strides=(10,(1,None))'
signature='pointers=(*i32:16,*i32),strides=(i32,(i32:1,None)),out=*i32'
check "types of tuples" 0 'k_param_3
!k_param_4' tuples.py -D 'SHAPE=(16,3)' --target sm_80 --emit=ptx --signature "$signature"
check "tuples in C" 0 'const int32_t \*pointers_0,
const int32_t \*pointers_1,
int32_t strides_0,' tuples.py -D 'SHAPE=(16,3)' --target sm_80 --emit=header --signature "$signature"
check "tuples of a function of a pack" 0 'const float \*pointers_0,' tuples.py --target sm_80 --emit=header \
  --function 'f:kernel=k,pointers=(*f32,),strides=(i32,(i32,None)),out=*f32,SHAPE=(8,9)'
check "an empty tuple of types" 2 'an empty tuple \[E0706\]' tuples.py --target sm_80 --signature 'strides=()'
check "a tuple for a compile-time parameter" 1 '`SHAPE` cannot be a tuple of arguments \[E0413\]
-D SHAPE=' tuples.py --target sm_80 --signature "$signature,SHAPE=(i32,)"
check "a malformed tuple of constants" 1 'is not a value for `SHAPE` \[E0413\]' tuples.py -D 'SHAPE=(1,,2)' --target sm_80 --signature "$signature"

# Texts.
cat > texts.py <<'KERNEL'
import triton
import triton.language as tl

@triton.jit
def k(out, ACTIVATION: tl.constexpr):
    if ACTIVATION == "relu":
        tl.store(out, 1)
    elif ACTIVATION == "":
        tl.store(out, 2)
KERNEL
check "an empty text" 0 'out .*\[2' --run texts.py -D ACTIVATION= --arg 'out=i32[1]' --grid 1 --target cpu
check "an empty text in quotes" 0 'out .*\[2' --run texts.py -D 'ACTIVATION=""' --arg 'out=i32[1]' --grid 1 --target cpu

# Grids.
add_with "unknown name in the grid" 1 'unknown name `BLCK` \[E0724\]
did you mean `BLOCK`' "$x" "$out" 100 'cdiv(n,BLCK)'
add_with "empty grid" 1 '\[E0725\]' "$x" "$out" 0 "$grid"
check "no grid" 2 '--grid' --run "$add" --target cpu --arg "x=$x" --arg 'y=f32[100]' --arg "out=$out" --arg n=100

# Files.
add_with "array file not found" 1 '\[E0710\]' @missing.npy "$out" 100 "$grid"
printf 'no array' > bad.npy
add_with "not an array file" 1 '\[E0712\]' @bad.npy "$out" 100 "$grid"
header="{'descr': '>f4', 'fortran_order': False, 'shape': (100,), }"
{ printf '\x93NUMPY\x01\x00\x3c\x00%s\n' "$(printf '%-59s' "$header")"; head -c 400 /dev/zero; } > big-endian.npy
add_with "big-endian array file" 1 'big-endian \[E0713\]' @big-endian.npy "$out" 100 "$grid"
add_with "writes a result" 0 '' "$x" "$out" 100 "$grid" --out out=@sum.npy
add_with "expects it again" 0 'out +as expected' "$x" "$out" 100 "$grid" --expect out=@sum.npy
add_with "expects something else" 1 'differs from the expected values in (99|100) of 100 elements \[E0730\]
first at \[0\]: got
tolerance: rtol' 'f32[100]:rand(7)' "$out" 100 "$grid" --expect out=@sum.npy
add_with "with a tolerance" 0 'as expected' 'f32[100]:rand(7)' "$out" 100 "$grid" --expect out=@sum.npy --atol 1
add_with "expects another shape" 1 'another shape .*\[E0730\]' "$x" 'f32[10x10]' 100 "$grid" --expect out=@sum.npy
add_with "expects a missing file" 1 '\[E0710\]' "$x" "$out" 100 "$grid" --expect out=@missing.npy
add_with "writes an unknown argument" 1 '\[E0721\]' "$x" "$out" 100 "$grid" --out sum=@sum.npy
add_with "writes an argument that the kernel only reads" 0 'x +f32\[100\]' "$x" "$out" 100 "$grid" --out x=@x.npy
add_with "writes into no folder" 73 '\[E0711\]' "$x" "$out" 100 "$grid" --out out=@no/folder/x.npy
add_with "reads what it wrote" 0 'x +f32\[100\].*\(unchanged\)' @sum.npy "$out" 100 "$grid"

# Arrays of const pointers are not printed, unless requested.
cat > copy.tile << 'TILE'
@jit
def copy(x: const_ptr[f32], out: ptr[f32], n: i32):
    i = program_id(0) * 64 + arange(0, 64)
    store(out + i, load(x + i, mask=i < n), mask=i < n)
TILE
check "shows what can be written" 0 'out +f32\[64\]  \[0, 1, 2, 3, \.\.\.\]  min 0  max 63  mean 31\.5$
!x +f32' --run copy.tile --target cpu --arg 'x=f32[64]:iota' --arg 'out=f32[64]' --arg n=64 --grid 1

# Options given twice, and types given besides arguments.
cat > bits.tile <<'KERNEL'
@jit
def widen(x, out, n, typed: i32):
    i = arange(0, 4)
    store(out + i, load(x + i).to(f32) + (n + typed) * 0.0)
KERNEL
printf '\x93NUMPY\x01\x00\x76\x00%-117s\n' "{'descr': '<u2', 'fortran_order': False, 'shape': (4,), }" > bits.npy
printf '\x80\x3f\x00\x40\x40\x40\x80\x40' >> bits.npy
widen=(--run bits.tile --target cpu --arg x=@bits.npy --arg 'out=f32[4]:zeros' --arg typed=4 --grid 1)
check "--signature gives the type of an array" 0 'bf16\[4\]  \[1, 2, 3, 4\]
!warning' "${widen[@]}" --arg n=16 --signature 'x=*bf16,n=i64:16'
check "integers that may be bf16" 0 'warning: `x` is read as integers of 16 bits.*\[E0714\]' "${widen[@]}" --arg n=3
check "and those that are not" 0 'u16\[4\]
!warning' "${widen[@]}" --arg n=3 --signature 'x=*u16'
check "a promise that is not kept" 1 '`n` is 3, and promised to be divisible by 16 \[E0723\]' "${widen[@]}" --arg n=3 --signature 'n=i32:16'
check "a type against the annotation" 2 '\[E0413\]' "${widen[@]}" --arg n=3 --signature 'typed=f32'
check "a type of nothing" 2 '\[E0412\]' "${widen[@]}" --arg n=3 --signature 'y=f32'
check "--arg twice" 2 '`--arg n=` is given twice \[E0707\]' "${widen[@]}" --arg n=3 --arg n=4
check "-D twice" 2 '`-D BLOCK=` is given twice \[E0707\]' "$add" --target sm_80 -D BLOCK=128 -DBLOCK=256
check "--out twice" 2 '`--out out=` is given twice \[E0707\]' "${widen[@]}" --arg n=3 --out out=a.npy --out out=b.npy
TILE_DEBUG=cache,nonsense check "an unknown word of TILE_DEBUG" 0 'warning: TILE_DEBUG has no word `nonsense` \[E0702\]' --version
