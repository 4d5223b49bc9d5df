# SPDX-License-Identifier: Apache-2.0
# --graph: tensor graphs as PyTorch prints them.

cat > graph.py <<'GRAPH'
class <lambda>(torch.nn.Module):
    def forward(self, x: "f32[4, 8][8, 1]cuda:0", y: "f32[8][1]cuda:0"):
        add: "f32[4, 8][8, 1]cuda:0" = torch.ops.aten.add.Tensor(x, y);  x = y = None
        return (add,)
GRAPH

check "--graph prints the graph" 0 'class <lambda>\(torch.nn.Module\):
add: "f32\[4, 8\]\[8, 1\]cuda:0" = torch.ops.aten.add.Tensor\(x, y\)
return \(add,\)' --graph graph.py
check "--graph --json" 0 '"inputs": \[\{"name": "x", "type": "f32\[4, 8\]\[8, 1\]"\}
"operator": "aten.add.Tensor"
"outputs": \["add"\]' --graph graph.py --emit=graph --json
check "--graph without a file" 2 '\[E0702\]' --graph
check "a graph that is not there" 1 '\[E0710\]' --graph nowhere.py
check "--emit=graph of a kernel" 2 '\[E0703\]
--graph FILE' add.tile --emit=graph
check "--graph with another mode" 2 '\[E0703\]' --graph graph.py --autotune
check "two inputs" 2 '\[E0703\]' --graph graph.py add.tile
sed 's/add\.Tensor/ad.Tensor/' graph.py > unknown.py
check "an unknown operator" 1 'unknown\.py:3:.*`aten\.ad\.Tensor` \(1\) \[E1002\]
`aten\.add\.Tensor`' --graph unknown.py
{ printf 'def forward(self, x: f32[9223372036854775808]):\n    return x\n'; } > huge.py
check "a limit of graphs" 75 '\[E1009\]' --graph huge.py

cat > softmax.py <<'GRAPH'
class G(torch.nn.Module):
    def forward(self, x: "f32[64, 128]", w: "f32[128, 32]"):
        softmax = torch.ops.aten._softmax.default(x, -1, False)
        mm = torch.ops.aten.mm.default(softmax, w)
        relu = torch.ops.aten.relu.default(mm)
        return (relu,)
GRAPH
check "--explain-fusion" 0 '^softmax: rows over x < 64, r < 128; reads x; writes .*; 65536 bytes
^mm_relu: product over batch < 1, m < 64, n < 32
softmax\.py:4:.*are not fused: an operand of a product is read many times, so it is stored first \([0-9]+ bytes\) \[fusion\]' --graph softmax.py --explain-fusion
check "--explain-fusion --json" 0 '"regions": ?\[\{"name": ?"softmax", "kind": "rows"' --graph softmax.py --explain-fusion --json
check "--explain-fusion of a kernel" 2 '\[E0703\]
--graph FILE' add.tile --explain-fusion

# Emitting and running a graph.
cat > sincos.py <<'GRAPH'
class G(torch.nn.Module):
    def forward(self, a: "f32[3, 100]", b: "f32[3, 100]"):
        sin = torch.ops.aten.sin.default(a)
        cos = torch.ops.aten.cos.default(b)
        add = torch.ops.aten.add.Tensor(sin, cos)
        return (add,)
GRAPH
check "--emit=plan" 0 '^G: 2 kernels, 2 launches
^ +0 +softmax\[[0-9]+\]\(x, -> softmax\) +[0-9.]+ kB
^ +1 +mm_relu\[[0-9]+\]\(softmax, w, -> relu\)
^memory: 32768 bytes of temporaries; operator by operator [0-9]+ bytes
softmax at 0, 32768 bytes
!lower bound' --graph softmax.py --emit=plan
check "--emit=plan for a GPU has lower bounds" 0 'lower bound [0-9.]+ [mu]s$
^lower bound of all:' --graph softmax.py --emit=plan --target sm_90a
check "--emit=tile: one kernel" 0 '^def sin_cos_add\(in0: const_ptr\[f32\], in1: const_ptr\[f32\], out0: ptr\[f32\], BLOCK: constexpr = [0-9]+\):
^    tl\.store\(out0 \+ x, tl\.sin\(v0\) \+ tl\.cos\(v1\), mask=.*\)$' --graph sincos.py --emit=tile
check "--emit=ptx" 0 '\.target sm_90a
\.entry softmax\(
\.entry mm_relu\(' --graph softmax.py --emit=ptx --target sm_90a
check "--emit=ptx for the cpu" 2 '\[E0703\]
--target sm_90a' --graph softmax.py --emit=ptx --target cpu
check "--emit=c for no target, without a GPU" 2 'made for a GPU or for processors \[E0703\]
--target cpu' --graph softmax.py --emit=c -o made
check "--emit=c without a folder" 2 'makes two files \[E0703\]
-o out' --graph softmax.py --emit=c --target sm_90a --ptxas none
check "--emit=c where a file is" 73 '\[E0711\]' --graph softmax.py --emit=c --target sm_90a --ptxas none -o softmax.py
check "--emit=cubin of a graph" 2 'not of graphs \[E0703\]
`plan`, `tile`, `ptx` and `c`' --graph softmax.py --emit=cubin --target sm_90a
check "--emit=ast of a graph" 2 'not of graphs \[E0703\]' --graph softmax.py --emit=ast

check "--run --check" 0 '^G on .* \(cpu\): 2 kernels, 2 launches
^  memory +32768 bytes between launches
^  relu +f32\[64, 32\] +\[
checked +against the reference interpreter: largest difference [0-9.e-]+ of' --graph softmax.py --run --check --target cpu
check "--arg and --out" 0 '^  add +f32\[3, 100\] +\[1, 1, 1, 1, \.\.\.\]$' --graph sincos.py --run --target cpu \
  --arg 'a=f32[3x100]:zeros' --arg 'b=f32[3x100]:zeros' --out add=@ones.npy
check "--expect, equal" 0 '' --graph sincos.py --run --target cpu --arg 'a=f32[3x100]:zeros' \
  --arg 'b=f32[3x100]:zeros' --expect add=@ones.npy
check "--expect, different" 1 'differs from `ones\.npy` in [0-9]+ elements.*\[E0730\]' --graph sincos.py --run --target cpu \
  --expect add=@ones.npy
check "--expect with a tolerance" 0 '' --graph sincos.py --run --target cpu --expect add=@ones.npy --atol 3
check "--out where --expect fails" 1 'differs from `ones\.npy`' --graph sincos.py --run --target cpu --expect add=@ones.npy --out add=@late.npy
check "--out was written though --expect failed" 0 '' --graph sincos.py --run --target cpu --expect add=@late.npy --rtol 0 --atol 0
check "--arg of another shape" 1 '`a` must be f32\[3, 100\], not f32\[100, 3\] \[E0723\]' --graph sincos.py --run --target cpu --arg 'a=f32[100x3]:zeros'
check "--arg for no input" 1 'no input `c` \[E0721\]' --graph sincos.py --run --target cpu --arg 'c=f32[3x100]:zeros'
check "--out of no output" 1 'no output `sin` \[E0721\]' --graph sincos.py --run --target cpu --out sin=@sin.npy
sed 's/sin\.default/sqrt.default/' sincos.py > nans.py
check "--check tells NaN" 0 'largest value; [0-9]+ of 300 elements are NaN in both' --graph nans.py --run --check --target cpu --arg 'a=f32[3x100]:rand(1,-1,1)'
sed 's/\[3, 100\]/[s0, 100]/g' sincos.py > sizes.py
check "a size by --arg" 0 '^  add +f32\[s0, 100\]
checked' --graph sizes.py --run --check --target cpu --arg s0=7
check "a size that is none" 1 '`0` is not a size: from 1 to 2147483647 \[E0720\]' --graph sizes.py --run --target cpu --arg s0=0
check "a size of an array" 0 '^  add +f32\[s0, 100\]
checked' --graph sizes.py --run --check --target cpu --arg 'a=f32[7x100]:rand(1)'
check "a size of an array for a plan" 0 '1\.2 MB' --graph sizes.py --emit=plan --target sm_90a --arg 'a=f32[1000x100]:zeros'
check "an array that does not fit a size" 1 '`s0` is 8 in `a`, and given as 7 \[E0723\]' --graph sizes.py --run --target cpu --arg s0=7 \
  --arg 'a=f32[8x100]:zeros'
(cat sizes.py; echo 'Range constraints: {s0: VR[2, 16]}') > ranges.py
check "a size of an array out of range" 1 'dimension 0 of `a` makes s0 17; it is from 2 to 16 \[E0720\]' --graph ranges.py --run --target cpu \
  --arg 'a=f32[17x100]:zeros'
cat > heads.py << 'GRAPH'
def forward(self, x: "f32[3*s0, 8]", w: "f32[4, 6]"):
    view: "f32[3*s0, 2, 4]" = torch.ops.aten.view.default(x, [3 * s0, -1, 4])
    rows: "f32[6*s0, 4]" = torch.ops.aten.view.default(view, [-1, 4])
    mm: "f32[6*s0, 6]" = torch.ops.aten.mm.default(rows, w)
    heads: "f32[s0, 36]" = torch.ops.aten.view.default(mm, [s0, -1])
    return (heads,)
Range constraints: {s0: VR[0, int_oo]}
GRAPH
for rows in 0 3 15; do
  check "-1 in a view with sizes from 0, $rows rows" 0 'largest difference [0-9.e-]+ of' --graph heads.py --run --check --target cpu --arg "x=f32[${rows}x8]:rand(1)"
done
check "a size of an array that no size gives" 1 '`x` must be f32\[3072, 8\], not f32\[4, 8\] \[E0723\]' --graph heads.py --run --target cpu --arg 'x=f32[4x8]:ones'
check "a plan for likely sizes" 0 '1\.2 MB' --graph sizes.py --emit=plan --target sm_90a --arg s0=1000
check "--bench" 0 '^G on .* \(cpu\): 1 kernels, 1 launches
^  time +[0-9.]+ [mu]s +\(p20 [0-9.]+, p80 [0-9.]+\), 4 replays
^ +0 +sin_cos_add\[' --graph sincos.py --bench --target cpu --repeats 4

cat > bits.py <<'GRAPH'
def forward(self, x: "f32[s0, 4]", q: "u8[s0, 8]", h: "f16[s0, 2]", c: "i64[s0, 6]"):
    bits: "i32[s0, 4]" = torch.ops.aten.view.dtype(x, torch.int32)
    exponent: "i32[s0, 4]" = torch.ops.aten.bitwise_right_shift.Tensor_Scalar(bits, 23)
    narrow: "i16[s0, 8]" = torch.ops.aten.view.dtype(x, torch.int16)
    wide: "bf16[s0, 4]" = torch.ops.aten.view.dtype(q, torch.bfloat16)
    rounded: "f16[s0, 2]" = torch.ops.aten.mul.Tensor(h, 3)
    halves: "i32[s0, 1]" = torch.ops.aten.view.dtype(rounded, torch.int32)
    eighths: "f8e4m3fn[s0, 4]" = torch.ops.aten.view.dtype(h, torch.float8_e4m3fn)
    mode = torch.ops.aten.mode.default(c)
    values: "i64[s0]" = mode[0]
    indices: "i64[s0]" = mode[1]
    return (exponent, narrow, wide, halves, eighths, values, indices)
GRAPH
for target in cpu 'sm_90a --simulate'; do
  check "bits of elements, $target" 0 'checked.*' --graph bits.py --run --check --target $target --arg 's0=3' --arg 'x=f32[3x4]:rand(1)' \
    --arg 'q=u8[3x8]:fill(63)' --arg 'h=f16[3x2]:rand(2)' --arg 'c=i64[3x6]:iota'
done
cat > special.py <<'GRAPH'
def forward(self, x: "f32[40]", p: "f32[40]"):
    digamma: "f32[40]" = torch.ops.aten.digamma.default(x)
    trigamma: "f32[40]" = torch.ops.aten.polygamma.default(1, x)
    zeta: "f32[40]" = torch.ops.aten.special_zeta.other_scalar(x, 2.5)
    ndtri: "f32[40]" = torch.ops.aten.special_ndtri.default(p)
    return (digamma, trigamma, zeta, ndtri)
GRAPH
check "gamma and zeta functions" 0 'checked.*' --graph special.py --run --check --target cpu --arg 'x=f32[40]:randn(1)' --arg 'p=f32[40]:rand(2)'

cat > step.py <<'GRAPH'
class G(torch.nn.Module):
    def forward(self, p: "f32[3]", g: "f32[3]"):
        mul = torch.ops.aten.mul.Tensor(g, -0.5)
        add = torch.ops.aten.add.Tensor(p, mul)
        copy_ = torch.ops.aten.copy_.default(p, add);  p = copy_ = None
        return ()
GRAPH
check "a written input" 0 '^  p +f32\[3\] +\[0, 0, 0\]
checked' --graph step.py --run --check --target cpu --arg 'p=f32[3]:fill(1)' --arg 'g=f32[3]:fill(2)' --out p=@step.npy
check "a written input, expected" 0 '' --graph step.py --run --target cpu --arg 'p=f32[3]:fill(2)' --arg 'g=f32[3]:fill(4)' --expect p=@step.npy
check "a written input, not expected" 1 '`p` differs from `step\.npy` in 3 elements' --graph step.py --run --target cpu \
  --arg 'p=f32[3]:fill(2)' --arg 'g=f32[3]:fill(2)' --expect p=@step.npy

# Casts round, except f16 and bf16 values that are not stored, unless the graph keeps its casts.
cast() {
  cat > cast.py <<GRAPH
class G(torch.nn.Module):
    def forward(self, x: "$1[4]"):
        half = torch.ops.aten._to_copy.default(x, dtype = torch.$2)
        back = torch.ops.aten._to_copy.default(half, dtype = torch.$3)
        use = torch.ops.aten.mul.Tensor(back, 1)
        return (use,)
GRAPH
}
while read -r from to back arg want; do
  cast "$from" "$to" "$back"
  check "cast $from to $to and back" 0 "^  (use|back|convert_element_type.*) +.*\\[4\\] +\\[$want\\]\$
largest difference 0 of" --graph cast.py --run --check --target cpu --arg "x=$from[4]:$arg"
done <<'CASES'
f32 float8_e4m3fn float32 fill(37.3) 36, 36, 36, 36
f32 float8_e5m2 float32 fill(37.3) 40, 40, 40, 40
f32 float8_e4m3fn float32 fill(-1000) -448, -448, -448, -448
f32 float8_e5m2 float32 fill(70000) inf, inf, inf, inf
bf16 float8_e4m3fn bfloat16 fill(0.1) 0.101562, 0.101562, 0.101562, 0.101562
f64 float32 float64 fill(1e-50) 0, 0, 0, 0
i32 int8 int32 fill(300) 44, 44, 44, 44
i64 uint8 int64 fill(-1) 255, 255, 255, 255
i32 bool int32 iota 0, 1, 1, 1
f32 int32 float32 fill(-1.75) -1, -1, -1, -1
i32 float16 int32 fill(2049) 2049, 2049, 2049, 2049
f32 bfloat16 float32 fill(257.5) 257.5, 257.5, 257.5, 257.5
f32 float16 float32 fill(0.1) 0.1, 0.1, 0.1, 0.1
CASES
while read -r from to back arg want; do
  cast "$from" "$to" "$back"
  check "--keep-casts: $from to $to and back" 0 "^  (use|back|convert_element_type.*) +.*\\[4\\] +\\[$want\\]\$
largest difference 0 of" --graph cast.py --run --check --target cpu --keep-casts --arg "x=$from[4]:$arg"
done <<'CASES'
f32 bfloat16 float32 fill(257.5) 258, 258, 258, 258
f32 float16 float32 fill(0.1) 0.0999756, 0.0999756, 0.0999756, 0.0999756
i32 float16 int32 fill(2049) 2048, 2048, 2048, 2048
f32 float16 float32 fill(70000) inf, inf, inf, inf
bf16 float16 bfloat16 fill(70000) inf, inf, inf, inf
bf16 float16 bfloat16 fill(1e-6) 1.01328e-06, 1.01328e-06, 1.01328e-06, 1.01328e-06
f16 bfloat16 float16 fill(0.1) 0.100098, 0.100098, 0.100098, 0.100098
CASES
cat > branch.py <<'GRAPH'
class G(torch.nn.Module):
    def forward(self, x: "f32[4]"):
        p: "b8[]" = torch.ops.aten.any.default(x)
        a = self.a
        cond = torch.ops.higher_order.cond(p, a, a, (x,))
        y: "f32[4]" = cond[0]
        return (y,)
    class a(torch.nn.Module):
        def forward(self, x: "f32[4]"):
            half = torch.ops.aten._to_copy.default(x, dtype = torch.bfloat16)
            back = torch.ops.aten._to_copy.default(half, dtype = torch.float32)
            first = torch.ops.aten.cumsum.default(back, 0)
            return (first,)
GRAPH
check "casts in a subgraph" 0 'y +f32\[4\] +\[257.5, 515, 772.5, 1030\]
largest difference 0 of' --graph branch.py --run --check --target cpu --arg 'x=f32[4]:fill(257.5)'
check "--keep-casts in a subgraph" 0 'y +f32\[4\] +\[258, 516, 774, 1032\]
largest difference 0 of' --graph branch.py --run --check --target cpu --keep-casts --arg 'x=f32[4]:fill(257.5)'
check "the plan of subgraphs" 0 'in launch 1, a: 1 kernels, 1 launches' --graph branch.py --emit=plan --target sm_90a
check "a branch that is timed" 0 'runs, which cannot be recorded' --graph branch.py --bench --target cpu
cat > root.py <<'GRAPH'
class G(torch.nn.Module):
    def forward(self, x: "f32[4]"):
        a = torch.ops.aten.sqrt.default(x)
        b: "f32[4]" = torch.ops.aten.cumsum.default(a, 0)
        return (b,)
GRAPH
check "--find-nan" 1 'first NaN: element 0 of 4 of `b`
first operator: `aten.sqrt.default`, which makes `a` NaN at element 0
    at root.py:3:23: a = torch.ops.aten.sqrt.default\(x\)
    x: f32\[4\] from -2 to -2' --graph root.py --run --find-nan --target cpu --arg 'x=f32[4]:fill(-2)'
check "--find-nan without one" 0 'finite     the results of all kernels' --graph root.py --run --find-nan --target cpu --arg 'x=f32[4]:fill(2)'
check "--find-nan of a kernel" 2 '`--find-nan` is of runs of graphs \[E0703\]' add.tile --find-nan
check "--keep-casts of a kernel" 2 '`--keep-casts` is of graphs \[E0703\]' add.tile --keep-casts

# Gradients.
cat > trained.py << 'GRAPH'
class trained(torch.nn.Module):
    def forward(self, x: "f32[s0, 24]", w: "f32[8, 24]", b: "f32[8]", target: "i64[s0]"):
        linear = torch.ops.aten.linear.default(x, w, b)
        loss = torch.ops.aten.cross_entropy_loss.default(linear, target)
        return (linear, loss)
GRAPH
check "--grad on the CPU" 0 'grad_w +f32\[8, 24\]
grad_b +f32\[8\]
checked .*largest difference' --graph trained.py --grad --loss loss --wrt w,b --run --check --target cpu --arg s0=17
check "--grad in the simulator" 0 'grad_x +f32\[s0, 24\]
checked .*largest difference' --graph trained.py --grad --loss loss --run --check --simulate --target sm_90a --arg s0=3
check "--grad-seeds" 0 'grad_b +f32\[8\] +\[3, 3, 3, 3, ' --graph trained.py --grad --grad-seeds --wrt b --run --check --target cpu --arg s0=3 --arg 'seed_linear=f32[3x8]:ones'
check "the plan of a graph with gradients" 0 '^trained: [0-9]+ kernels, .*' --graph trained.py --grad --loss loss --emit=plan --target sm_90a
check "a loss of several elements" 1 '^trained\.py:3:9: error: `linear` is f32\[s0, 8\]: a loss without a seed is one number \[E1013\]' --graph trained.py --grad
check "--memory-budget" 0 'grad_w +f32\[8, 24\]
checked .*largest difference' --graph trained.py --grad --loss loss --memory-budget 64 --run --check --target cpu --arg s0=9
cat > pooled.py << 'GRAPH'
class pooled(torch.nn.Module):
    def forward(self, x: "f32[2, 3, 12, 12]", w0: "f32[4, 3, 3, 3]", w1: "f32[4, 4, 3, 3]", w2: "f32[4, 4, 3, 3]"):
        c0: "f32[2, 4, 12, 12]" = torch.ops.aten.convolution.default(x, w0, None, [1, 1], [1, 1], [1, 1], False, [0, 0], 1)
        r0 = torch.ops.aten.relu.default(c0)
        p = torch.ops.aten.max_pool2d_with_indices.default(r0, [3, 3], [2, 2], [1, 1])
        p0: "f32[2, 4, 6, 6]" = p[0]
        c1: "f32[2, 4, 6, 6]" = torch.ops.aten.convolution.default(p0, w1, None, [1, 1], [1, 1], [1, 1], False, [0, 0], 1)
        r1 = torch.ops.aten.relu.default(c1)
        c2: "f32[2, 4, 6, 6]" = torch.ops.aten.convolution.default(r1, w2, None, [1, 1], [1, 1], [1, 1], False, [0, 0], 1)
        a2 = torch.ops.aten.add.Tensor(c2, p0)
        r2 = torch.ops.aten.relu.default(a2)
        y: "f32[2, 4]" = torch.ops.aten.mean.dim(r2, [2, 3])
        return (y,)
GRAPH
for budget in 1000000 6000 2000 500; do
  check "--memory-budget $budget of a pool" 0 'checked .*largest difference' --graph pooled.py --grad --grad-seeds --memory-budget $budget --run --check --target cpu
done
# Both directions of a pool in one graph: the scatter of the second finds its indices by the maxima of the first, which are nowhere stored.
cat > scattered.py << 'GRAPH'
def forward(self, x: "f32[3, 4, 14, 14]", w: "f32[4, 4, 3, 3]", g: "f32[3, 4, 7, 7]"):
    c = torch.ops.aten.convolution.default(x, w, None, [1, 1], [1, 1], [1, 1], False, [0, 0], 1)
    r = torch.ops.aten.relu.default(c)
    p = torch.ops.aten.max_pool2d_with_indices.default(r, [3, 3], [2, 2], [1, 1])
    v = p[0]
    i = p[1]
    d = torch.ops.aten.max_pool2d_with_indices_backward.default(g, r, [3, 3], [2, 2], [1, 1], [1, 1], False, i)
    return (v, d)
GRAPH
for way in "--target cpu" "--target sm_90a --simulate"; do
  check "both directions of a pool, $way" 0 'checked .*largest difference' --graph scattered.py --run --check $way
done
check "--memory-budget without --grad" 2 'no gradients are asked for \[E0703\]' --graph trained.py --memory-budget 64
check "--wrt without --grad" 2 'no gradients are asked for \[E0703\]' --graph trained.py --wrt w
check "--explain-partition" 0 '^saved: 4 values, 140 bytes; 705 bytes if nothing were computed again
= aten\.exp\.default' --graph trained.py --grad --loss loss --explain-partition --arg s0=17
check "--explain-partition without --grad" 2 'no gradients are asked for \[E0703\]' --graph trained.py --explain-partition
check "--grad of a kernel" 2 'gradients are of graphs \[E0703\]' add.tile --grad
cat > recurrent.py << 'GRAPH'
class recurrent(torch.nn.Module):
    def forward(self, h: "f32[4]", xs: "f32[s0, 4]", w: "f32[4, 4]"):
        step = self.step
        scan = torch.ops.higher_order.scan(step, [h], [xs], (w,))
        last = scan[0]
        sum = torch.ops.aten.sum.default(last)
        return (sum,)
    class step(torch.nn.Module):
        def forward(self, h: "f32[4]", x: "f32[4]", w: "f32[4, 4]"):
            mv = torch.ops.aten.mv.default(w, h)
            add = torch.ops.aten.add.Tensor(mv, x)
            tanh = torch.ops.aten.tanh.default(add)
            mul = torch.ops.aten.mul.Tensor(tanh, x)
            return (tanh, mul)
GRAPH
check "--grad of a scan of a symbolic length" 0 'grad_w +f32\[4, 4\]
checked .*largest difference' --graph recurrent.py --grad --run --check --target cpu --arg s0=5

# Views beyond their storage: an error when the graph is read if the sizes are known, else when it runs.
view() { printf 'def forward(self, x: "%s"):\n    r = torch.ops.aten.%s\n    return (r,)\n' "$1" "$2" > view.py; }
view 'f32[4, 6]' 'as_strided.default(x, [3, 4], [6, 1], 9)'
check "as_strided beyond its storage" 1 '^view\.py:2:19: error: .*reaches 25 elements, but f32\[4, 6\] has storage for 24 \[E1004\]' --graph view.py --run --target cpu
view 'f32[4, 6]' 'as_strided.default(x, [3, 4], [6, 1], -2)'
check "as_strided before its storage" 1 '^view\.py:2:19: error: .*offset is negative \[E1004\]' --graph view.py --run --target cpu
view 'f32[s0, 6]' 'as_strided.default(x, [3, 4], [6, 1], 8)'
check "as_strided of a size, beyond" 1 'reaches beyond the storage of f32\[s0, 6\] \[E0813\]' --graph view.py --run --target cpu --arg s0=3
check "as_strided of a size, within" 0 'largest difference 0 of' --graph view.py --run --check --target cpu --arg s0=4
view 'f32[s0, 2]' 'select.int(x, 0, 5)'
check "select of a size, beyond" 1 'index is out of range in dimension 0 of f32\[s0, 2\] \[E0813\]' --graph view.py --run --target cpu --arg s0=5
view 'f32[5, 2]' 'split_with_sizes.default(x, [7, -2])'
check "a part of negative size" 1 'a part of negative size \[E1004\]' --graph view.py
view 'f32[5, 0]' 'amin.default(x, [1])'
check "the smallest of none" 1 'along a dimension without elements \[E1004\]' --graph view.py
view 'f32[5, 2]' 'kthvalue.default(x, 3)'
check "an element beyond the last" 1 'no such element \[E1004\]' --graph view.py
view 'f32[5, 2]' 'unfold.default(x, 0, 6, 1)'
check "a window that is too large" 1 'a window of 6 is larger than dimension 0 \[E1004\]' --graph view.py

# Sizes that PyTorch's guards fix: 1 for the likely sizes, a number of parts; the run checks them.
printf 'def forward(self, x: "f32[(s0//32), 3]", y: "f32[s1, 3]"):\n    a = torch.ops.aten.add.Tensor(x, y)\n    return (a,)\n' > one.py
check "a size that is 1" 0 'largest difference 0 of' --graph one.py --run --check --target cpu --arg s0=40 --arg s1=5
check "a size that is not 1" 0 'largest difference 0 of' --graph one.py --run --check --target cpu --arg s0=160 --arg s1=5
check "sizes that do not broadcast" 1 'which the graph takes as equal \[E0813\]' --graph one.py --run --target cpu --arg s0=64 --arg s1=5
printf 'def forward(self, x: "f32[s0, 3]"):\n    c = torch.ops.aten.chunk.default(x, 2)\n    a = c[0]\n    b = c[1]\n    return (a, b)\n' > parts.py
check "two parts of symbolic size" 0 'largest difference 0 of' --graph parts.py --run --check --target cpu --arg s0=7
check "fewer parts" 1 'no result 1' --graph parts.py --run --check --target cpu --arg s0=1
printf 'def forward(self, n: "Sym(s5)", x: "f32[s0*s0]"):\n    a = torch.ops.aten.mul.Tensor(x, n)\n    b = torch.ops.aten.view.default(a, [s0, s0])\n    return (b,)\n' > square.py
check "a square gives its side, an integer is given" 0 'b +f32\[s0, s0\] +\[14, 14, 14' --graph square.py --run --check --target cpu --arg 'x=f32[9]:fill(2)' --arg s5=7
check "no square" 1 'E0723' --graph square.py --run --target cpu --arg 'x=f32[8]:fill(2)' --arg s5=7
# An embedding bag whose second result has another size on a CPU, which nothing uses.
cat > bags.py <<'GRAPH'
class G(torch.nn.Module):
    def forward(self, w: "f32[10, 4]", x: "i64[s7]", o: "i64[s8]"):
        embedding_bag = torch.ops.aten.embedding_bag.padding_idx(w, x, o, False, 0, False, None, False, None)
        getitem: "f32[s8, 4]" = embedding_bag[0]
        getitem_1: "i64[0]" = embedding_bag[1];  embedding_bag = getitem_1 = None
        return (getitem,)
GRAPH
check "an embedding bag of another device" 0 'largest difference' --graph bags.py --run --check --target cpu --arg s7=6 --arg s8=2

# x - x + tiny: sums that cancel leave only rounding errors.
cat > cancel.py <<'GRAPH'
class G(torch.nn.Module):
    def forward(self, x: "f32[64, 1000]"):
        sin = torch.ops.aten.sin.default(x)
        a = torch.ops.aten.sum.dim_IntList(sin, [1])
        flip = torch.ops.aten.flip.default(sin, [1])
        b = torch.ops.aten.cumsum.default(flip, 1)
        c = torch.ops.aten.select.int(b, 1, 999)
        sub = torch.ops.aten.sub.Tensor(a, c)
        return (sub,)
GRAPH
check "--check of what cancels" 0 'checked' --graph cancel.py --run --check --target cpu
check "--check --atol" 0 'largest difference 0 of' --graph cancel.py --run --check --target cpu --atol 0.01


# Differences explained by rounding are accepted: overflow of the dtype, booleans at a threshold, cancelled sums.
checks() { # NAME TYPE CALL ARGUMENTS...
  printf 'def forward(self, x: "%s"):\n    y = torch.ops.aten.%s\n    r = torch.ops.aten.%s\n    return (r,)\n' "$2" "$3" "$4" > bound.py
  check "--check: $1" 0 'checked' --graph bound.py --run --check --target cpu "${@:5}"
}
checks "a product beyond f16" 'f16[64]' 'mul.Tensor(x, 3)' 'mul.Tensor(y, x)' --arg 'x=f16[64]:rand(1,100,300)'
checks "a square beyond f32" 'f32[64]' 'mul.Tensor(x, x)' 'sqrt.default(y)' --arg 'x=f32[64]:fill(1e25)'
checks "a threshold on a sum" 'f32[512, 64]' 'mean.dim(x, [1])' 'ge.Scalar(y, 0.5)'
checks "a norm of equal elements" 'f32[8, 4096]' 'mean.dim(x, [1], True)' 'sub.Tensor(x, y)' --arg 'x=f32[8x4096]:fill(0.1)'
checks "integers divided by zero" 'i32[64]' 'sub.Tensor(x, 5)' 'floor_divide.default(x, y)' --arg 'x=i32[64]:iota'
checks "integers cut by zero" 'i32[64]' 'sub.Tensor(x, 5)' "div.Tensor_mode(x, y, rounding_mode='trunc')" --arg 'x=i32[64]:iota'
checks "a scalar" 'f32[64]' 'exp.default(x)' 'sum.default(y)' --out r=@rank0.npy
grep -aq "'shape': ()" rank0.npy; report $? "--out of a scalar has no dimensions"
view 'f32[5]", i: "i64[2]' 'scatter.src(x, 0, i, x)'
check "--check refuses an index before kernels follow it" 1 'index -1 is out of range for a dimension of 5 \[E1010\]
!double free' --graph view.py --run --check --target cpu --arg 'i=i64[2]:fill(-1)'

sed 's/add\.Tensor(x, y)/nonzero.default(x)/' graph.py > nonzero.py
check "sizes that depend on contents" 1 '`aten\.nonzero\.default` \(1\) \[E1002\]
depends? on the contents of a tensor' --graph nonzero.py

cat > topk.py <<'GRAPH'
class G(torch.nn.Module):
    def forward(self, x: "f32[10, 4]"):
        softmax = torch.ops.aten._softmax.default(x, -1, False)
        topk = torch.ops.aten.topk.default(softmax, 2)
        values = topk[0]
        indices = topk[1]
        return (values, indices)
GRAPH
check "what is compared with itself is stored" 0 'topk[a-z_]*: .*; reads softmax; writes .*' --graph topk.py --explain-fusion

# Operators that are composed of others, on operands that do not fit.
refused() { # refused MESSAGE CALL
  cat > refused.py << GRAPH
def forward(self, x: "f32[4, 3]", s: "f32[4, s0]", v: "f32[1, 2, 5]", w: "f32[3, 2, 2]", i: "i64[4]", n: "f32[]"):
    r = torch.ops.aten.$2
    return (r,)
GRAPH
  check "refused: $2" 1 "refused.py:2:.*$1.*\\[E100[34]\\]" --graph refused.py --emit=graph
}
refused 'running_mean.* is a tensor, not None' 'batch_norm.default(x, None, None, None, None, False, 0.1, 0.001, True)'
refused 'is given for its channels' 'batch_norm.default(x, None, None, i, i, True, 0.1, 0.001, True)'
refused 'over channels of a tensor of 1 ' 'group_norm.default(i, 2)'
refused 'not "sam"' "conv1d.padding(v, w, None, [1], 'sam')"
refused 'a dilation for each dimension' "conv1d.padding(v, w, None, [1], 'same', [])"
refused 'input of 2 dimensions for a weight of 2' 'conv1d.default(x, x)'
refused 'less than one part' 'chunk.default(x, 0)'
refused '1000000000000 parts of 4 elements' 'tensor_split.sections(x, 1000000000000)'
refused 'negative repetitions' 'repeat_interleave.self_int(x, -1, 0)'
refused 'number of classes has to be given' 'one_hot.default(i)'
refused 'dimension 1 is behind dimension 0' 'flatten.using_ints(x, 1, 0)'
refused 'cannot become 0' 'unflatten.int(x, 0, [])'
refused 'kind "circular"' "pad.default(x, [1, 1], 'circular')"
refused '4 elements beyond the end' 'narrow.default(x, 0, 3, 4)'
refused 'of 2 and 1 dimensions' 'outer.default(x, i)'
refused 'one number, or one for each channel' 'prelu.default(x, w)'
refused 'is no matrix' 'mT.default(i)'
refused 'not one window size' 'max_pool1d.default(x, [])'
refused 'a tensor of 0 dimensions' 'adaptive_avg_pool1d.default(n, [2])'
refused 'targets of 2 dimensions for scores of 2' 'nll_loss.default(x, x)'

cat > window.py << 'GRAPH'
class GraphModule(torch.nn.Module):
    def forward(self, a: "f32[n]"):
        w = torch.ops.aten.hann_window.default(n)
        return (w,)
GRAPH
check 'a window of one element is 1' 0 'w +f32\[n\] +\[1\]' --graph window.py --run --check --target cpu --arg 'a=f32[1]:rand(1)'
check 'a window of four elements' 0 'w +f32\[n\] +\[0, 0.5, 1, 0.5\]' --graph window.py --run --check --target cpu --arg 'a=f32[4]:rand(1)'

# The sides of the result have a negative lower bound, and k is split, so that parts of the sum are stored.
cat > sides.py <<'GRAPH'
class G(torch.nn.Module):
    def forward(self, x: "f32[1, 64, s0, s0]", w: "f32[8, 64, 7, 7]"):
        floordiv = s0 // 2
        add = floordiv + 9
        sub = add - s0
        more = torch.sym_max(sub, 0)
        pad = torch.ops.aten.constant_pad_nd.default(x, [0, more, 0, more])
        convolution = torch.ops.aten.convolution.default(pad, w, None, [2, 2], [0, 0], [1, 1], False, [0, 0], 1)
        return (convolution,)
GRAPH
check "sides of a split convolution that are padded by symbols" 0 'checked +against' --graph sides.py --run --check --target cpu \
  --arg 'x=f32[1x64x12x12]:rand(0)' --arg 'w=f32[8x64x7x7]:rand(1)'

# Positions that are long expressions of a size: right up to a limit, an error beyond it.
attention_over() { # attention_over FILE SIZE
  local k="(($2 + 15)//16)"
  local n="$k**2 - 2*$k + 2"
  local of="f32[s0, 3, $n, 64][576*($n), 64, 576, 1]"
  cat > "$1" << GRAPH
class G(torch.nn.Module):
    def forward(self, q: "$of", k: "$of", v: "$of", o: "f32[s0, 3, $n, 64][192*($n), 64, 192, 1]", l: "f32[s0, 3, $n][3*($n), 1, 3]", x: "f32[s1]"):
        b = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu_backward.default(k, q, k, v, o, l, 0.0, False)
        return (b[0], b[1], b[2])
GRAPH
}
size=s1
for more in 1 5 7 9; do
  size="(($size + $more)//2 + Max(0, 2*(($size + 7)//4) - (($size + 1)//2) + 1))"
  attention_over "long$more.py" "$size"
done
check "positions that are long expressions" 0 'checked +against' --graph long1.py --run --check --target cpu --arg 'x=f32[64]:zeros' \
  --arg 'q=f32[2x3x5x64]:rand(0)' --arg 'k=f32[2x3x5x64]:rand(1)' --arg 'v=f32[2x3x5x64]:rand(2)' --arg 'o=f32[2x3x5x64]:rand(3)' --arg 'l=f32[2x3x5]:rand(4)'
check "positions that are too long" 75 'long9\.py:3:.*too long an expression of the sizes \[E1009\]' --graph long9.py --emit=tile --target cpu --arg s0=2 --arg s1=64

# A chain of views: its values are stored before the positions are too long.
{
  printf 'class G(torch.nn.Module):\n    def forward(self, v0: "f32[12, 60]"):\n'
  for i in {1..30}; do
    printf '        q%d = torch.ops.aten.view.default(v%d, [60, 12])\n' "$i" $((i - 1))
    printf '        p%d = torch.ops.aten.permute.default(q%d, [1, 0])\n' "$i" "$i"
    printf '        v%d = torch.ops.aten.clone.default(p%d)\n' "$i" "$i"
  done
  printf '        w = torch.ops.aten.sin.default(v30)\n        return (w,)\n'
} > chain.py
check "a chain of views" 0 'checked +against' --graph chain.py --run --check --target cpu --arg 'v0=f32[12x60]:rand(0)'

cat > none.py <<'GRAPH'
class G(torch.nn.Module):
    def forward(self, g: "f32[0, 4, 6, 6]", x: "f32[0, 3, 8, 8]", w: "f32[4, 3, 3, 3]"):
        b = torch.ops.aten.convolution_backward.default(g, x, w, [4], [1, 1], [0, 0], [1, 1], False, [0, 0], 1, [True, True, True])
        return (b[0], b[1], b[2])
GRAPH
check "gradients of a convolution of no images" 0 'checked +against' --graph none.py --run --check --target cpu --arg 'g=f32[0x4x6x6]:zeros' \
  --arg 'x=f32[0x3x8x8]:zeros' --arg 'w=f32[4x3x3x3]:zeros'

# Results that are stored without a descriptor are laid out in shared memory beside the residual.
cat > residual.py <<'GRAPH'
class G(torch.nn.Module):
    def forward(self, x: "bf16[36864, 384]", w: "bf16[96, 384]", b: "bf16[96]", y: "bf16[36864, 96]"):
        t = torch.ops.aten.t.default(w)
        m = torch.ops.aten.addmm.default(b, x, t)
        s = torch.ops.aten.add.Tensor(y, m)
        v = torch.ops.aten.view.default(s, [16, 24, 2, 48, 96])
        p = torch.ops.aten.permute.default(v, [0, 1, 3, 2, 4])
        c = torch.ops.aten.clone.default(p, memory_format = torch.contiguous_format)
        return (c,)
GRAPH
check "a residual beside results in shared memory" 0 'residual_tiles|ld.global|cp.async' --graph residual.py --target sm_90a --emit=ptx

# Gradients of pooling, by the windows that hold a position; overlapping, dilated, with padding and with a partial window.
cat > pools.py <<'GRAPH'
class G(torch.nn.Module):
    def forward(self, x: "f16[3, 8, 21, 18]", g: "f16[3, 8, 11, 9]", y: "f32[2, 3, 13, 10]", z: "f32[4, 6, 8]", k: "f32[4, 3, 4]", u: "f32[1, 2, 9, 7]", h: "f32[1, 2, 4, 7]"):
        a = torch.ops.aten.max_pool2d_with_indices.default(x, [3, 3], [2, 2], [1, 1])
        b = torch.ops.aten.max_pool2d_with_indices_backward.default(g, x, [3, 3], [2, 2], [1, 1], [1, 1], False, a[1])
        c = torch.ops.aten.max_pool2d_with_indices.default(y, [2, 3], [3, 1], [0, 1], [3, 2], True)
        w = c[0]
        t = torch.ops.aten.max_pool2d_with_indices_backward.default(w, y, [2, 3], [3, 1], [0, 1], [3, 2], True, c[1])
        e = torch.ops.aten.max_pool2d_with_indices.default(z, [2, 2])
        f = torch.ops.aten.max_pool2d_with_indices_backward.default(k, z, [2, 2], [2, 2], [0, 0], [1, 1], False, e[1])
        l = torch.ops.aten.max_pool2d_with_indices.default(u, [3, 1], [2, 1], [0, 0])
        d = torch.ops.aten.max_pool2d_with_indices_backward.default(h, u, [3, 1], [2, 1], [0, 0], [1, 1], False, l[1])
        return (b, t, f, d)
GRAPH
check "gradients of pooling" 0 'checked +against' --graph pools.py --run --check --target cpu

# A mask with a size of its own: each run checks that it is that of what it indexes.
cat > symbolic_mask.py <<'GRAPH'
def forward(self, s0: "Sym(s0)", s1: "Sym(s1)", x: "f32[s0, 6]", chosen: "b8[s1]", row: "f32[6]"):
    y = torch.ops.aten.index_put.default(x, [chosen], row)
    return (y,)
GRAPH
check "a write by a mask" 0 'checked  *against the reference interpreter' --graph symbolic_mask.py --run --check --target cpu --arg s0=5 --arg s1=5
check "a write by a mask of another size" 1 '`s1` and `s0` differ, which the graph takes as equal' --graph symbolic_mask.py --run --target cpu --arg s0=5 --arg s1=4
check "a write by a mask, sm_90a" 0 'checked  *against the reference interpreter' --graph symbolic_mask.py --run --check --simulate --target sm_90a --arg s0=300 --arg s1=300
