# SPDX-License-Identifier: Apache-2.0
# Tensor descriptors as arguments: --arg, --signature, tuning.

cat > descriptors.py <<'KERNEL'
import triton
import triton.language as tl


@triton.jit
def shifted(x, y, by, BLOCK: tl.constexpr = 16):
    at = [tl.program_id(0) * 2, tl.program_id(1) * BLOCK]
    y.store(at, x.load(at) + by)


@triton.autotune(configs=[triton.Config({'BLOCK': b}, num_warps=1) for b in (32, 64)], key=['n'])
@triton.jit
def declared(x: tensordesc[f32, [BLOCK]], y: tensordesc[f32, [BLOCK]], n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK
    y.store([at], x.load([at]) * 2)


@triton.jit
def first(x, out):
    tl.store(out + tl.arange(0, 4), x.load([2]))
KERNEL
shifted=(--run descriptors.py --kernel shifted --target cpu --check --arg by=1 --grid 2,2)
x='f32[3x18]:ones:block(2x16)' y='f32[3x18]:block(2x16)'

# Rows of 72 bytes have 80 on the device.
check "an array with blocks" 0 'y +f32\[3x18\].*min 2  max 2  mean 2$' "${shifted[@]}" --arg "x=$x" --arg "y=$y"
check "written to a file" 0 'y +f32\[3x18\].*mean 2$' "${shifted[@]}" --arg "x=$x" --arg "y=$y" --out 'y=@twos.npy'
check "read back" 0 'y .*mean 3$' "${shifted[@]}" --arg 'x=@twos.npy:block(2x16)' --arg "y=$y"
check "expected" 0 '' "${shifted[@]}" --arg "x=$x" --arg "y=$y" --expect 'y=@twos.npy'
check "not expected" 1 '\[E0730\]' "${shifted[@]}" --arg "x=f32[3x18]:block(2x16)" --arg "y=$y" --expect 'y=@twos.npy'
check "on a simulated GPU" 0 'y .*mean 2$' "${shifted[@]:0:4}" --simulate --target sm_90a --check --arg by=1 --grid 2,2 \
  --arg "x=$x" --arg "y=$y"
check "types of --signature" 0 'y .*mean 2$' "${shifted[@]}" --arg 'x=f32[3x18]:ones' --arg 'y=f32[3x18]' \
  --signature 'x=tensordesc[f32,2x16],y=tensordesc[f32,2x16]'
check "padding" 0 'out .*\[1, nan, nan, nan\]' --run descriptors.py --kernel first --target cpu \
  --arg 'x=f32[3]:ones:block(4):pad(nan)' --arg 'out=f32[4]' --grid 1
check "padding by --signature" 0 'out .*\[1, nan, nan, nan\]' --run descriptors.py --kernel first --target cpu \
  --arg 'x=f32[3]:ones' --arg 'out=f32[4]' --grid 1 --signature 'x=tensordesc[f32,4]:pad(nan)'
check "sizes in the grid" 0 'grid \(2, 2, 1\)
y .*mean 2$' "${shifted[@]:0:9}" --grid 'cdiv(x.shape[0],2),cdiv(y.shape[1],BLOCK)' -D BLOCK=16 --arg "x=$x" --arg "y=$y"
check "a size that the descriptor does not have" 1 'unknown name `x.shape\[2\]`.*\[E0724\]
did you mean `x.shape\[0\]`' "${shifted[@]:0:9}" --grid 'x.shape[2]' --arg "x=$x" --arg "y=$y"

# What the argument may not be.
wrong() { # wrong NAME PATTERN X [more]
  local name=$1 pattern=$2 given=$3
  shift 3
  check "$name" 1 "$pattern" "${shifted[@]}" --arg "x=$given" --arg "y=$y" "$@"
}
wrong "a block that is no power of two" '`2x12` is no block of a tensor descriptor \[E0720\]' 'f32[3x18]:block(2x12)'
wrong "a block of six dimensions" '\[E0720\]' 'f32[3x18]:block(1x1x1x1x1x4)'
wrong "an open bracket" 'cannot read `:block\(2x16` \[E0720\]' 'f32[3x18]:block(2x16'
wrong "an unknown padding" 'cannot read `:block\(2x16\):pad\(0\)` \[E0720\]' 'f32[3x18]:block(2x16):pad(0)'
wrong "a number with blocks" '`5` is no array.*\[E0720\]' '5:block(2x16)'
wrong "another rank" 'an array of rank 1 with blocks of rank 2 \[E0723\]' 'f32[54]:block(2x16)'
wrong "no rows" 'argument 1 \(`x`\): shape\[0\] of the tensor descriptor is 0, but' 'f32[0x18]:block(2x16)'
wrong "a narrow block" 'block\[1\] of the tensor descriptor is 2, but' 'f32[3x18]:block(2x2)'
wrong "a block that the kernel would set" 'the shape of the blocks of `x` is not known \[E0413\]' 'f32[3x18]:block()'
wrong "another block than that of --signature" '`x` has blocks of 16 elements in dimension 1, not 8 \[E0723\]' 'f32[3x18]:block(2x8)' \
  --signature 'x=tensordesc[f32,2x16]'
wrong "another type than that of --signature" 'describes elements of f16, not of f32 \[E0714\]' 'f32[3x18]:block(2x16)' \
  --signature 'x=tensordesc[f16,2x16]'
wrong "a pointer by --signature" 'declared a pointer, not a tensor descriptor \[E0723\]' 'f32[3x18]:block(2x16)' --signature 'x=*f32'
wrong "a number for a descriptor" '`x` is a tensor descriptor and needs an array \[E0723\]' 5 --signature 'x=tensordesc[f32,2x16]'
wrong "None for a descriptor" 'declared a tensor descriptor and cannot be None \[E0723\]' None --signature 'x=tensordesc[f32,2x16]'
check "a pointer where the kernel wants a descriptor" 1 '\[E0503\]|\[E0213\]|has no .*load' "${shifted[@]}" --arg 'x=f32[3x18]' --arg "y=$y"
check "no argument for a descriptor" 1 'rand\(0\):block\(64x32\)' --run descriptors.py --kernel declared --target cpu \
  --arg n=9 --grid 1 --arg 'x=f32[9]'

# Malformed types.
for type in 'tensordesc[f32]' 'tensordesc[f32,2x' 'tensordesc[f99,2x16]' 'tensordesc[f32,0x16]' 'tensordesc[f32,ax16]' \
  'tensordesc[f32,1x1x1x1x1x4]' 'tensordesc[f32,2x16]:3' 'tensordesc[f32,2x16]:pad(0)'; do
  check "$type" 2 '\[E0706\]' descriptors.py --kernel shifted --target sm_80 --signature "x=$type"
done
check "hints of --signature" 0 'tile.divisibility = 32 : i32, tile.dtype = "i32", tile.name = "x.shape\[1\]"' \
  descriptors.py --kernel shifted --target sm_80 --emit=tile \
  --signature 'x=tensordesc[f32,2x16]:32,y=tensordesc[f32,2x16]:pad(nan):16,by=f32'

# Tuning: blocks follow the configuration.
tuned=(descriptors.py --kernel declared --target cpu --arg 'x=f32[130]:ones' --arg 'y=f32[130]' --arg n=130 --grid 'cdiv(n,BLOCK)')
check "tuning" 0 '2 of 2 configurations measured' --autotune "${tuned[@]}"
check "a launch that is tuned" 0 'tuned +BLOCK=
y .*mean 2$' --run "${tuned[@]}"
check "the file is read ahead of time" 0 '' descriptors.py --kernel declared --target cpu --emit=tile --signature 'n=i32'
