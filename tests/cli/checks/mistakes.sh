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
check "an archive as an argument" 1 '`arrays.npz` is not a well-formed .npy file.*\[E0712\]
numpy.load\("x.npz"\)\["x"\]' run "$add" --target cpu --arg x=@arrays.npz --arg 'y=f32[100]' --arg 'out=f32[100]' --arg n=100 --grid 1
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
check "an array that is not there" 1 'no such file: `x.npi`
paths count from the current folder' run "$add" --arg x=@x.npi --grid 1 --target cpu
check "a code without its letter" 2 'codes stand in brackets at the end of a message' explain 214
check "a range with a dash" 1 'a range is `64..1024:x2`' tune "$add" --arg 'x=f32[9]:ones' --arg 'y=f32[9]:ones' --arg 'out=f32[9]:zeros' --arg n=9 \
  --grid 1 --target cpu --space 'BLOCK=64-128'
