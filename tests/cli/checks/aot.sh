# SPDX-License-Identifier: Apache-2.0
# Ahead-of-time compilation: valid and invalid options. tests/aot tests the output.

cat > "$scratch/two.tile" << 'TILE'
@jit
def add(x, y, out, n, BLOCK: constexpr):
    i = program_id(0) * BLOCK + arange(0, BLOCK)
    store(out + i, load(x + i, mask=i < n) + load(y + i, mask=i < n), mask=i < n)

@jit
def first(x, y, out, BLOCK: constexpr):
    i = arange(0, BLOCK)
    v = load(x + i)
    if y is not None:
        v += load(y + i)
    store(out + i, v)

@jit
def scale(x: ptr[f16], factor: f32, n: i32):
    i = program_id(0) * 512 + arange(0, 512)
    store(x + i, (load(x + i, mask=i < n).to(f32) * factor).to(f16), mask=i < n)
TILE
aot() { # aot NAME STATUS PATTERN EMIT ARGUMENTS...
  local name=$1 status=$2 pattern=$3 emit=$4
  shift 4
  check "$name" "$status" "$pattern" two.tile --emit="$emit" --ptxas none --target sm_80 -D BLOCK=1024 \
    --signature "x=*f32,y=*f32,out=*f32,n=i32${more_types:-}" "$@"
}

aot "a header: a typed call for each kernel, const where nothing is stored" 0 'struct two_module;
^tile_status add_launch\(struct two_module \*module, tile_stream \*stream, tile_grid grid,
^    const float \*x,
^    float \*out,
^    void \*x,
^    float factor,' header
aot "one kernel" 0 'scale_launch
!add_launch' header --kernel scale
aot "two kernels by name" 0 'add_launch
scale_launch' header --kernel scale --kernel add
aot "specialisations, the most specific first" 0 '^ \*   x % 16, n == 1$
^ \*   any arguments$' header --spec x:16,n:1 --kernel add
aot "a call with the grid" 0 'add_run
!scale_run' header --grid 'add:cdiv(n,BLOCK)'
aot "functions with constants and types of their own" 0 'Kernel add with BLOCK=64
add_half_launch.*
const void \*x
int64_t n' header --function 'add_half:kernel=add,x=*f16,y=*f16,out=*f16,n=i64,BLOCK=64,num_warps=2'
aot "an optional parameter that is None" 0 'Kernel first with y=None, BLOCK=64
!void \*y
const void \*x' header --function 'one:kernel=first,x=*f16,y=None,out=*f16,BLOCK=64'
aot "the module's name" 0 'struct mine_module;' header --name mine
aot "a grid in C" 0 'tile_grid_cdiv\(\(int64_t\)n, \(int64_t\)1024, &tile_failed\)' c --kernel add --grid 'cdiv(n,BLOCK)'

aot "an unknown kernel" 1 '\[E0401\]' header --kernel sub
aot "an unknown parameter of --function" 2 'no parameter `BLOK` \[E0753\]
did you mean `BLOCK`' header --function add:BLOK=3
aot "a name that C does not take" 2 '`3d`.*\[E0753\]' header --function 3d:kernel=add
aot "a word of C" 2 '`while`.*\[E0753\]' header --function while:kernel=add
aot "a function twice" 2 'two functions `add` \[E0753\]' header --function add --function add
aot "whether warps specialise" 2 'warp_specialize=no.*auto, on or off \[E0753\]' header --function add:warp_specialize=no
aot "warps out of range" 2 'num_warps=64.*\[E0753\]' header --function add:num_warps=64
aot "a malformed module name" 2 '\[E0753\]' header --name a-b
aot "--spec without a promise" 2 '\[E0754\]' pack --spec x
aot "--spec: no power of two" 2 '\[E0754\]' pack --spec x:24
aot "--spec: an address that is 1" 2 'never 1 \[E0754\]' pack --spec x:1
aot "--spec: a float" 2 'pointers and integers \[E0754\]' pack --spec factor:16
aot "--spec: a parameter that none has" 2 '\[E0754\]' pack --spec z:16
aot "--spec for an unknown function" 2 'no function `ad` \[E0753\]
did you mean `add`' pack --spec ad:n:1
aot "-D that no kernel has" 1 '`BLOK` \[E0412\]' pack -D BLOK=3
more_types=,z=i32 aot "--signature that no kernel has" 1 '`z` \[E0412\]' pack
aot "a grid for several" 1 'whose grid.*\[E0724\]' c --grid 1
aot "a grid with an unknown name" 1 '`m` \[E0724\]' c --grid add:m
aot "a grid that is known to be too large" 1 '\[E0725\]' c --grid add:1,70000
aot "code for processors" 0 '"target": "cpu:x86-64-v4", "format": "image"' pack --json --target cpu:x86-64-v4 --target cpu:aarch64
aot "machine code of several kernels" 1 'several|3 kernels.*\[E0402\]' cubin
check "no assembler where machine code is wanted" 1 'needs ptxas.*\[E0750\]
--emit=ptx' "$add" --emit=cubin --target sm_80 --ptxas none
check "an assembler that is none" 2 '`/nowhere/ptxas`, which --ptxas names.*\[E0750\]' "$add" --emit=cubin --target sm_80 --ptxas /nowhere/ptxas
check "machine code of a GPU for a processor" 2 'machine code of GPUs \[E0703\]
--emit=object' "$add" --emit=cubin --target cpu
check "several targets of one text" 2 'is for packs \[E0703\]' "$add" --target sm_80 --target sm_90a
check "--spec without a pack" 2 'is for packs \[E0703\]' "$add" --target sm_80 --spec n:16
check "--function when running" 2 'is for packs \[E0703\]' --run "$add" --function add
check "an error in the kernel, once" 1 'two.tile:2:9: .*\[E0410\]' two.tile --emit=pack --target sm_80 --kernel add -D BLOCK=64
check "PTX only: said, unless it is meant" 0 '!E0750' "$add" --emit=pack --target sm_80 --ptxas none -o quiet.tpk
check "--json with the pack in a file" 0 '^\{"emit": "pack", "bytes": [0-9]+, "ptxas": null, "functions": \[\{"name": "add"' \
  "$add" --emit=pack --target sm_80 --target sm_90a --ptxas none --json -o add.tpk
