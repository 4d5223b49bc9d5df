# SPDX-License-Identifier: Apache-2.0
# --layout, of specs and of kernels, and --bench.

check "draws a fragment" 0 'T0:0
T31:' --layout 'mma_v2 16x8'
check "draws from several words" 0 'T0:0' --layout mma_v2 16x8
check "draws as JSON" 0 '^\{' --layout 'mma_v2 16x8' --json
check "draws as SVG" 0 '' --layout 'mma_v2 16x8' -o fragment.svg
log=/dev/null
head -c 400 fragment.svg | grep -q '<svg'; report $? "and the file is one"
check "malformed layout" 1 '\[E0740\]' --layout 'mna_v2 16x8'
check "no layout" 2 '\[E0702\]' --layout

# Of kernels.
cat > turn.tile <<'END'
@jit
def turn(x: ptr[f32] % 16, out: ptr[f32] % 16, N: constexpr = 64):
    i = arange(0, N)
    a = load(x + i[:, None] * N + i[None, :])
    b = exp(a)
    store(out + i[:, None] + i[None, :] * N, b)

@jit
def scalars(out: ptr[f32], n: i32):
    store(out, n.to(f32))
END
cat > untyped.tile <<'END'
@jit
def untyped(p):
    i = p + arange(0, 32)
    store(i, load(i) + 1)
END
printf '@jit\ndef bad(p: ptr[f32]):\n    store(p, nothing)\n' > bad.tile
check "lists the tensors of a kernel" 0 '^location +operation +type +registers +vector +layout$
^4:9 +tile.load +64x64xf32 +32 +4  blocked<
^6:5 +tile.store +64x64xf32 +32 +4  blocked<
^4:33 +tile.addptr +64x64xptr<f32> +32 +-  blocked<
^5:9 +math.exp2 +64x64xf32
!^(1|2|7|9|10):' --layout turn.tile --kernel turn --target sm_90a
check "options of compiling reach it" 0 '^4:9 +tile.load +16x16xf32 +8 +4  blocked<.*warps_per_cta = \[1, 1\]
!warps_per_cta = \[[^1]' --layout turn.tile --kernel turn --target sm_80 -D N=16 --num-warps 1
check "--signature reaches it" 0 '^4:14 +tile.load +32xf16 ' --layout untyped.tile --target sm_80 --signature 'p=*f16:16'
check "draws a line of a kernel" 0 '^turn.tile:4:9: tile.load: 64x64xf32, 32 registers a thread, 4 elements an access$
^64x64 elements: 32 registers x 32 lanes x 4 warps; shown are 32x16 of 64x64 cells
^ 0 +T0:0 +T0:1 +T0:2 +T0:3 +T1:0
!turn.tile:5' --layout turn.tile:4 --kernel turn --target sm_90a
check "draws the expression at a column" 0 '^turn.tile:4:9: tile.load
!tile.addptr' --layout turn.tile:4:9 --kernel turn --target sm_90a
check "or the smallest one around it" 0 '^turn.tile:4:9: tile.load
!tile.addptr' --layout turn.tile:4:11 --kernel turn --target sm_90a
check "draws it by thread" 0 '^ +T1 +0,4 +0,5 +0,6 +0,7' --layout turn.tile:4:9 threads --kernel turn --target sm_90a
check "draws a line as JSON" 0 '^\{"file": "turn.tile", "target": "sm_90a", "values": \[\{"line": 4, "column": 9, "operation": "tile.load", "shape": \[64, 64\], "element": "f32", "registers": 32, "vector": 4, "encoding": "#tilegpu.blocked
"bases": \{"register": \[\[0, 1\], \[0, 2\]' --layout turn.tile:4:9 --kernel turn --target sm_90a --json
check "draws a line as SVG" 0 '!E0742' --layout turn.tile:4:9 --kernel turn --target sm_90a -o load.svg
log=/dev/null
head -c 400 load.svg | grep -q '<svg'; report $? "and the file is one"
check "an SVG of several layouts says so" 0 'warning: the picture shows one of [2-9] layouts: `tile.store`.*\[E0742\]' \
  --layout turn.tile:6 --kernel turn --target sm_90a -o store.svg
check "an SVG of a whole kernel" 2 '\[E0703\]
:LINE' --layout turn.tile --kernel turn -o all.svg
"$tilec" turn.tile --kernel turn --target sm_90a --emit=tilegpu -o turn.mlir
check "lists the tensors of IR text" 0 'tile.load +64x64xf32 +32 +4  blocked<' --layout turn.mlir
cat > foreign.mlir <<'END'
func.func @f(%x: tensor<32xi32, #tilegpu.blocked<{order = [0], size_per_thread = [1], threads_per_warp = [32], warps_per_cta = [4]}>>) {
  %0 = arith.ceildivsi %x, %x : tensor<32xi32, #tilegpu.blocked<{order = [0], size_per_thread = [1], threads_per_warp = [32], warps_per_cta = [4]}>>
  return
}
END
check "names operations that are not ours" 0 '^2:8 +arith.ceildivsi +32xi32 +1 +-' --layout foreign.mlir
check "no tensor on the line" 1 'error: no tensor is made on line 2 of `turn.tile` \[E0741\]
help: lines that have some: 3, 4, 5, 6;' --layout turn.tile:2 --kernel turn --target sm_90a
check "no tensor at the column" 1 'at line 4, column 3 of `turn.tile` \[E0741\]
help: columns of line 4 that have some: 9, 16, 18, ' --layout turn.tile:4:3 --kernel turn --target sm_90a
check "no tensors at all" 1 'error: the kernel has no tensors.*\[E0741\]' --layout turn.tile --kernel scalars
check "which kernel" 1 'E[0-9]+' --layout turn.tile
check "unknown file of a layout" 1 'no such file: `nope.tile` \[E0710\]' --layout nope.tile:3
check "malformed line" 1 '`x` is no line or column.*\[E0740\]' --layout turn.tile:x
check "line 0" 1 '\[E0740\]' --layout turn.tile:0
check "errors of the kernel" 1 'bad.tile:' --layout bad.tile:1
cp turn.tile kernel.txt
check "a file of any name" 0 '^4:9 +tile.load' --layout kernel.txt --kernel turn --target sm_80

check "bench on the cpu" 0 'GB/s
p20 .* p80
of a device copy' --bench "$add" --target cpu --arg 'x=f32[4096]:rand(0)' --arg 'y=f32[4096]:rand(1)' \
  --arg 'out=f32[4096]' --arg n=4096 --grid 'cdiv(n,BLOCK)' --repeats 5
check "bench as JSON" 0 '^\{"kernel": "add"
"launches": 5
"tflops": ' --bench "$add" --target cpu --arg 'x=f32[4096]:rand(0)' --arg 'y=f32[4096]:rand(1)' \
  --arg 'out=f32[4096]' --arg n=4096 --grid 'cdiv(n,BLOCK)' --repeats 5 --flops 4096 --json
