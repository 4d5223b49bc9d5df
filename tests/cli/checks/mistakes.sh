# SPDX-License-Identifier: Apache-2.0
# What people write who come from Python and Triton: grids as they are written there, files of other programs.
launch=(--target cpu --arg 'x=f32[100]:ones' --arg 'y=f32[100]:iota' --arg 'out=f32[100]:zeros' --arg n=100)
graph=$root/tutorials/13-graph-from-fx/sin_cos.py

check "a grid with triton.cdiv" 0 '^  out ' run "$add" "${launch[@]}" --grid 'triton.cdiv(n, BLOCK)'
check "a grid that is a tuple" 0 '^  out ' run "$add" "${launch[@]}" --grid '(cdiv(n, BLOCK),)'
check "a grid that is a tuple of two" 0 '^  out ' run "$add" "${launch[@]}" --grid '(cdiv(n, BLOCK), 1)'
check "a grid that begins with parentheses" 0 '^  out ' run "$add" "${launch[@]}" --grid '(n + BLOCK - 1) // BLOCK, (1)'
check "a grid that is a lambda" 0 '^  out ' run "$add" "${launch[@]}" --grid "lambda meta: (triton.cdiv(n, meta['BLOCK']), )"
check "a lambda of an unknown name" 1 'unknown name `BLOK` \[E0724\]
did you mean `BLOCK`' run "$add" "${launch[@]}" --grid 'lambda META: (tl.cdiv(n, META["BLOK"]),)'
check "a lambda without an expression" 1 '\[E0724\]' run "$add" "${launch[@]}" --grid 'lambda meta'
check "a tuple that is not closed" 1 'expected `\)`|expected `,`' run "$add" "${launch[@]}" --grid '(n, 1'
check "a subscript of something else" 1 '\[E0724\]' run "$add" "${launch[@]}" --grid 'lambda m: (n[0],)'
check "four axes in a tuple" 1 'at most three axes' run "$add" "${launch[@]}" --grid '(1,1,1,1)'

printf '\x08\x07\x12\x04test' > model.onnx
printf 'PK\x03\x04....' > arrays.npz
printf 'PK\x03\x04....' > weights.pt
printf '\x93NUMPY\x01\x00' > array.npy
printf '\x7fELF....' > program
check "an ONNX model as a graph" 1 '`model.onnx` is an ONNX model, not the text of a graph \[E0710\]
torch.export' graph model.onnx
check "an ONNX model as a kernel" 1 '`model.onnx` is an ONNX model, not a kernel \[E0710\]
tilec graph FILE' compile model.onnx
check "a checkpoint as a graph" 1 '`weights.pt` is a file of PyTorch.*\[E0710\]' graph weights.pt
check "an array as a kernel" 1 '`array.npy` is a NumPy array, not a kernel \[E0710\]
--arg x=@x.npy' compile array.npy
check "machine code as a kernel" 1 '`program` is machine code, not a kernel \[E0710\]' program
check "a broken archive as an argument" 1 '`arrays.npz` is a .npz archive, not one array \[E0712\]
numpy.load\("arrays.npz"\)\["NAME"\]' run "$add" --target cpu --arg x=@arrays.npz --arg 'y=f32[100]' --arg 'out=f32[100]' --arg n=100 --grid 1
python3 - <<'END'
import zipfile
with zipfile.ZipFile("two.npz", "w") as z:
    z.writestr("weight.npy", b"\x93NUMPY")
    z.writestr("bias.npy", b"\x93NUMPY")
END
check "an archive as an argument" 1 '`two.npz` is a .npz archive of `weight`, `bias`, not one array \[E0712\]
numpy.save\("weight.npy", numpy.load\("two.npz"\)\["weight"\]\)
give `@weight.npy`' run "$add" --target cpu --arg x=@two.npz --arg 'y=f32[100]' --arg 'out=f32[100]' --arg n=100 --grid 1
check "a checkpoint as an argument" 1 '\[E0712\]
torch.load' run "$add" --target cpu --arg x=@weights.pt --arg 'y=f32[100]' --arg 'out=f32[100]' --arg n=100 --grid 1
check "a checkpoint as weights" 1 '\[E0710\]
safetensors.torch.save_file' graph "$graph" --run --target cpu --weights weights.pt

# Options of other compilers, and names of files that are nearly right.
check "an optimisation level" 2 'unknown option `-O3`
code is always optimised' "$add" -O3
check "nvcc names a GPU" 2 'unknown option `-arch`
the GPU is named by `--target sm_90a`' "$add" -arch=sm_90
check "registers as nvcc limits them" 2 '= help: write `--max-registers N`' "$add" --maxrregcount 64
check "options of two letters are no others" 2 'unknown option `-Old`
!always optimised' "$add" -Old
cp "$add" vectors.tile
check "a file that is nearly there" 1 'no such file: `vector.tile`
did you mean `vectors.tile`\?' vector.tile
check "a folder that is not there" 1 'there is no folder `nowhere/`' nowhere/vectors.tile
check "an array that is not there" 1 'no such file: `nowhere.npi`
paths count from the current folder' run "$add" --arg x=@nowhere.npi --grid 1 --target cpu
check "a code without its letter" 2 'codes stand in brackets at the end of a message' explain 214
check "a range with a dash" 1 'a range is `64..1024:x2`' tune "$add" --arg 'x=f32[9]:ones' --arg 'y=f32[9]:ones' --arg 'out=f32[9]:zeros' --arg n=9 \
  --grid 1 --target cpu --space 'BLOCK=64-128'

# Texts of other kinds.
printf '// Generated\n.version 8.3\n.target sm_90a\n.visible .entry k() { ret; }\n' > made.ptx
printf 'module {\n  tt.func public @k(%%a: i32) {\n    tt.return\n  }\n}\n' > module.txt
printf '__global__ void scale(double *y) { y[threadIdx.x] *= 2; }\n' > scale.cpp
printf 'import torch\n\nclass Small(torch.nn.Module):\n    def __init__(self):\n        super().__init__()\n    def forward(self, x):\n        return x + 1\n' > small.py
check "PTX as a kernel" 1 '`made.ptx` is PTX.*\[E0710\]' run made.ptx --target cpu
check "PTX as a graph" 1 '`made.ptx` is PTX.*not the text of a graph' graph made.ptx
check "the IR of Triton as a kernel" 1 "module of Triton's IR.*\[E0710\]
@triton.jit" module.txt --target sm_80
check "CUDA as a kernel" 1 'is CUDA C\+\+, not a kernel' scale.cpp --target sm_80
check "a graph as a kernel" 1 'is a graph, not a kernel
tilec graph .*sin_cos.py --run' run "$graph" --target cpu
check "a kernel as a graph" 1 'is a kernel, not the text of a graph
`tilec run' graph "$add"
check "the source of a model as a graph" 1 '`small.py` is the source of a model
run_decompositions' graph small.py
check "a folder as a kernel" 74 'is a folder, not a file' .
check "an output in no folder" 73 'its folder does not exist' "$add" --target sm_80 --emit=ptx -o nowhere/add.ptx
check "no graph" 2 'name a graph as PyTorch prints it' graph

# Values that do not fit.
check "an old GPU" 2 '`sm_61` is not supported: the oldest GPU is sm_80
`cpu` runs everywhere' "$add" --target sm_61
check "a word for a number of warps" 2 'write for example `--num-warps 4`' "$add" --num-warps many
check "a word for a tolerance" 2 'write for example `--atol 0.001`' run "$add" --atol small
check "a definition without a value" 2 'write a name and its value: `-D BLOCK=128`' "$add" -D SIZE
check "a shape that is not closed" 1 'missing `\]`
write for example `f64\[1000\]`' run "$add" --target cpu --arg 'x=f64[64' --grid 1
check "commas in a shape" 1 'extents are separated by `x`: `4x25`' run "$add" --target cpu --arg 'x=f32[4, 25]' --grid 1
sizes=(--arg 'x=f32[100]:ones' --arg 'y=f32[100]:ones' --arg 'out=f32[100]')
check "a fraction for an integer" 1 'write a whole number, `--arg n=99`' run "$add" --target cpu "${sizes[@]}" --arg n=99.5 --grid 1
check "an exponent for an integer" 1 'without a point or exponent: `--arg n=100`' run "$add" --target cpu "${sizes[@]}" --arg n=1e2 --grid 1
check "a number beyond the arrays" 1 '`n` is 300 and `out` has 100 elements: give `--arg n=100`' run "$add" --target cpu "${sizes[@]}" --arg n=300 --grid 1

# Without --check the processor finds accesses that are outside by less than the rounding of buffers.
cat > unmasked.tile <<'EOT'
@jit
def shift(a: ptr[f32], b: ptr[f32], low: i32, BLOCK: constexpr = 64):
  i = arange(0, BLOCK) + low
  store(b + i, load(a + arange(0, BLOCK)) + 1.0)
@jit
def read(a: ptr[f16], b: ptr[f16], BLOCK: constexpr = 64):
  i = arange(0, BLOCK)
  store(b + i, load(a + i))
EOT
check "a store past the end, not checked" 1 'store writes past the end of `b` \[E0802\]' run unmasked.tile --kernel shift --target cpu \
  --arg 'a=f32[64]:ones' --arg 'b=f32[61]' --arg low=0 --grid 1
check "a store before the start, not checked" 1 'store writes before the start of `b` \[E0802\]' run unmasked.tile --kernel shift --target cpu \
  --arg 'a=f32[64]:ones' --arg 'b=f32[70]' --arg low=-2 --grid 1
check "a load past the end, not checked" 1 'load reads past the end of `a` \[E0801\]' run unmasked.tile --kernel read --target cpu \
  --arg 'a=f16[40]:ones' --arg 'b=f16[64]' --grid 1
check "accesses inside, not checked" 0 'min 2  max 2' run unmasked.tile --kernel shift --target cpu \
  --arg 'a=f32[64]:ones' --arg 'b=f32[64]' --arg low=0 --grid 1

# A quotient of a grid, a GPU that is not supported, a signature without names, a script of PyTorch.
sizes=(--target cpu --arg 'x=f32[90]:ones' --arg 'y=f32[90]:iota' --arg 'out=f32[90]:zeros' --arg n=90 -D BLOCK=64)
check "a grid that drops a part" 1 'the quotient 90 / 64 is no whole number \[E0724\]
write `cdiv\(n,BLOCK\)`' run "$add" "${sizes[@]}" --grid 'n/BLOCK'
check "a quotient of a product, with blanks" 1 'the quotient 180 / 64 is no whole number
write `cdiv\(2 \* n,BLOCK\)`' run "$add" "${sizes[@]}" --grid '1, 2 * n / BLOCK'
check "a quotient that is whole" 0 'grid \(9, 1, 1\)' run "$add" "${sizes[@]}" --grid 'n / 10'
check "a division that rounds" 0 'grid \(1, 1, 1\)' run "$add" "${sizes[@]}" --grid 'n // BLOCK'
check "a quotient that rounds up by itself" 0 'grid \(2, 1, 1\)' run "$add" "${sizes[@]}" --grid '(n + BLOCK - 1) / BLOCK'
check "a GPU that no target is for" 2 '`sm_121` is not supported \[E0704\]
the targets are `cpu`.*`sm_100a`' "$add" --target sm_121
check "a signature of types alone" 2 'the entry `\*fp16` names no parameter \[E0706\]
each type has the name' "$add" --signature '*fp16,i64'
check "two signatures" 2 '`--signature` is given twice
`--signature .x=\*f32,n=i64.`' "$add" --signature 'x=*f32' --signature n=i64
printf 'import torch\n\ndef net(a, b):\n    return torch.tanh(a) * b\n' > script.py
check "a script of PyTorch as a graph" 1 '`script.py` is the source of a model
run_decompositions' graph script.py
printf 'import triton\n\n@triton.jit\ndef total(x_ptr: ptr[f32], sum_ptr: ptr[f32]):\n    i = tl.program_id(0) * 32 + tl.arange(0, 32)\n    tl.store(sum_ptr, tl.sum(tl.load(x_ptr + i)))\n' > total.tile
check "programs that store to one element" 1 'race in global memory.*\[E0818\]
tl.atomic_add\(sum_ptr' run total.tile --target sm_90a --simulate --check --arg 'x_ptr=f32[64]:iota' --arg 'sum_ptr=f32[1]' --grid 2
check "programs that store to one element, on the CPU" 1 'total.tile:6:5: error: race in global memory.*\[E0818\]
program \(1, 0, 0\), thread 0 writes element 0 of `sum_ptr`
program \(0, 0, 0\), thread 0 writes it
tl.atomic_add\(sum_ptr' run total.tile --target cpu --check --arg 'x_ptr=f32[160]:iota' --arg 'sum_ptr=f32[1]' --grid 5
sed 's/tl.store(sum_ptr/tl.atomic_add(sum_ptr/' total.tile > added.tile
check "the edit of it" 0 'sum_ptr .*\[12720\]' run added.tile --target cpu --check --arg 'x_ptr=f32[160]:iota' --arg 'sum_ptr=f32[1]' --grid 5
check "one program has no race" 0 'every access checked$' run total.tile --target cpu --check --arg 'x_ptr=f32[160]:iota' --arg 'sum_ptr=f32[1]' --grid 1
printf '@jit\ndef smooth(x: ptr[i16], n: i32, B: constexpr = 32):\n  i = program_id(0) * B + arange(0, B)\n  v = load(x + i + 1, mask=i + 1 < n, other=0)\n  store(x + i, v * 3 + 1, mask=i < n)\n' > smooth.tile
check "a program reads what the next one stores" 1 'smooth.tile:5:3: error: race in global memory.*\[E0818\]
program \(1, 0, 0\), thread 0 writes element 32 of `x`
program \(0, 0, 0\), thread [0-9]+ reads it' run smooth.tile --target cpu --check --arg 'x=i16[100]:iota' --arg n=100 --grid 4

cat > element.py <<'KERNEL'
import triton
import triton.language as tl


@triton.jit
def scale(src_ptr: ptr[f32], dst_ptr: ptr[f32], n: i32):
    offs = tl.program_id(0) * 128 + tl.arange(0, 128)
    keep = offs < n
    u = tl.load(src_ptr + offs, mask=keep)
    n[0] = 7
    tl.store(dst_ptr + offs, u, mask=keep)
KERNEL
check "an element of a number" 1 'cannot assign to this expression \[E0108\]
help: `n` is one number: assign to the name' compile element.py --emit=tile --target sm_80

# What is missing, all at once.
printf '@jit\ndef scale(x: ptr[f16], count: i32, by: f32, LANES: constexpr, IS_EVEN: constexpr):\n  i = program_id(0) * LANES + arange(0, LANES)\n  store(x + i, load(x + i, mask=i < count) * by, mask=i < count)\n' > scale.tile
check "nothing but the file" 1 'no value for parameter `x` \[E0722\]
missing value of compile-time parameter `LANES` \[E0411\]
no grid \[E0724\]
`tilec run scale.tile --arg .x=f16\[1000\]:rand\(0\). --arg count=1000 --arg by=1000 -D LANES=128 -D IS_EVEN=True --grid .cdiv\(count,LANES\).`' run scale.tile
check "the proposed command line runs" 0 '^  x ' run scale.tile --arg 'x=f16[1000]:rand(0)' --arg count=1000 --arg by=1000 -D LANES=128 -D IS_EVEN=True --grid 'cdiv(count,LANES)' --target cpu
check "a grid and a block are missing" 2 'missing value of compile-time parameter `LANES`
no grid
--target cpu -D IS_EVEN=False -D LANES=128 --grid .cdiv' run scale.tile --arg 'x=f16[1000]:rand(0)' --arg count=1000 --arg by=1 --target cpu -D IS_EVEN=False
check "only the grid is missing" 2 'add for example `--grid .cdiv\(n,BLOCK\).`
!all together' run "$add" "${launch[@]}"

# Values that are given by other words.
check "a constant that run does not know" 1 'command line:.*`add` has no compile-time parameter `NUM` \[E0412\]
its compile-time parameters are `BLOCK`' run "$add" "${launch[@]}" --grid 1 -D NUM=4
check "a constant with small letters" 1 'command line:.*`add` has no compile-time parameter `block` \[E0412\]
did you mean `BLOCK`\?' run "$add" "${launch[@]}" --grid 1 -D block=64
check "an integer beyond its type" 1 'command line:.*`n` is an i32, which 2147483648 does not fit \[E0723\]
declare the parameter as `n: i64`' run "$add" --target cpu --arg 'x=f32[100]' --arg 'y=f32[100]' --arg 'out=f32[100]' --arg n=2147483648 --grid 1
check "the smallest integer of its type" 0 '^  out ' run "$add" --target cpu --arg 'x=f32[100]' --arg 'y=f32[100]' --arg 'out=f32[100]' --arg n=-2147483648 --grid 1
check "a block that -D gives" 1 'from 0 to -64 \[E0511\]
command line:.*note: `BLOCK` is given here' "$add" --target sm_80 --emit=tile -D BLOCK=-64
check "another error has no such note" 1 '!is given here' run "$add" "${launch[@]}" --grid oops -D BLOCK=64
check "machine code as text" 2 'cuobjdump -sass k.cubin' "$add" --target sm_80 --emit=sass
check "IR of Triton" 2 "Triton's IR with layouts is .--emit=tilegpu" "$add" --target sm_80 --emit=ttgir
check "a signature of types alone" 2 '`\*fp16:16` names no parameter \[E0706\]
--signature .x=\*fp16:16,count=i32,by=fp32.' scale.tile --target sm_80 --signature '*fp16:16, i32, fp32' -D LANES=64 -D IS_EVEN=False
check "the word that names an output in no folder" 73 'command line:1:.*cannot write `nowhere/add.ptx`
\^~~' "$add" --target sm_80 --emit=ptx -o nowhere/add.ptx
check "weights that are not there" 1 'cannot read `nowhere`
weights are a .safetensors file, a .npy file or a folder of NAME.npy' graph "$graph" --run --target cpu --weights nowhere
check "words of the command line in quotes" 1 "'x=f32\[100\]:onse'" run "$add" --target cpu --arg 'x=f32[100]:onse' --grid 1

# Rows that are shorter than the argument says.
printf '@jit\ndef twice(x: ptr[f32], width: i32, B: constexpr = 64):\n  i = arange(0, B)\n  p = x + program_id(0) * width + i\n  store(p, load(p, mask=i < width) * 2, mask=i < width)\n' > twice.tile
check "rows shorter than the argument" 1 '`width` is 60 and a row of `x` has 50 elements: give `--arg width=50`' run twice.tile --target cpu --check --arg 'x=f32[4x50]:ones' --arg width=60 --grid 4
check "the edit of it" 0 '^  x ' run twice.tile --target cpu --check --arg 'x=f32[4x50]:ones' --arg width=50 --grid 4
