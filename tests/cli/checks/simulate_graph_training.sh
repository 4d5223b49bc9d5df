# SPDX-License-Identifier: Apache-2.0
# What training of convolutional networks and of mixtures of experts is made of, in the simulator with all checks: columns in parts
# that are combined once, values of many loads kept for the second pass, phases of strided gradients and of transposed convolutions,
# pooling's gradients by windows, outputs with free strides, sums by vectors of atomics.

simulated() { # NAME FILE
  for target in sm_90a sm_80; do
    check "$1: simulated, $target" 0 'checked +against the reference interpreter' --graph "$2" --run --check --simulate --target $target
  done
}

cat > columns.py <<'GRAPH'
class G(torch.nn.Module):
    def forward(self, x: "f16[1700, 24]", y: "f16[1700, 24]", z: "f16[1700, 24]", w: "f16[1700, 24]"):
        a = torch.ops.aten.mul.Tensor(x, y)
        b = torch.ops.aten.mul.Tensor(z, w)
        c = torch.ops.aten.add.Tensor(a, b)
        u = torch.ops.aten.flip.default(x, [0])
        v = torch.ops.aten.flip.default(y, [0])
        d = torch.ops.aten.mul.Tensor(u, v)
        r = torch.ops.aten.flip.default(z, [0])
        s = torch.ops.aten.flip.default(w, [0])
        e = torch.ops.aten.mul.Tensor(r, s)
        f = torch.ops.aten.sub.Tensor(e, d)
        g = torch.ops.aten.mul.Tensor(c, f)
        h = torch.ops.aten._to_copy.default(g, dtype = torch.float32)
        m = torch.ops.aten.mean.dim(h, [0], True)
        q = torch.ops.aten.amax.default(y, [0], True)
        t = torch.ops.aten.mul.Tensor(h, q)
        k = torch.ops.aten.sub.Tensor(t, m)
        return (k, m)
GRAPH
simulated "columns in parts that are written" columns.py
check "columns in parts that are written: kernels" 0 '_part0\[1, [0-9]+\]\(.*-> kept_
_total\[.*-> total_
_finish\[1, [0-9]+\]\(total_[0-9]+, total_[0-9]+, kept_' --graph columns.py --emit=plan --target sm_90a

cat > images.py <<'GRAPH'
class G(torch.nn.Module):
    def forward(self, x: "f16[2, 16, 14, 11]", w: "f16[24, 16, 3, 3]", v: "f16[24, 16, 1, 1]", g: "f16[2, 24, 7, 6]", t: "f16[16, 8, 2, 2]", b: "f16[8]", p: "f16[2, 16, 7, 6]"):
        a = torch.ops.aten.max_pool2d_with_indices.default(x, [3, 3], [2, 2], [1, 1])
        c = torch.ops.aten.max_pool2d_with_indices_backward.default(p, x, [3, 3], [2, 2], [1, 1], [1, 1], False, a[1])
        d = torch.ops.aten.convolution_backward.default(g, x, w, [0], [2, 2], [1, 1], [1, 1], False, [0, 0], 1, [True, False, False])
        e = torch.ops.aten.convolution_backward.default(g, x, v, [0], [2, 2], [0, 0], [1, 1], False, [0, 0], 1, [True, False, False])
        f = torch.ops.aten.add.Tensor(d[0], e[0])
        r = torch.ops.aten.relu.default(f)
        h = torch.ops.aten.add.Tensor(r, c)
        i = torch.ops.aten.convolution.default(h, t, b, [2, 2], [0, 0], [1, 1], True, [0, 0], 1)
        return (h, i, r)

Free strides: {h, r}
GRAPH
simulated "phases, windows and free strides" images.py
check "phases, windows and free strides: no atomics" 0 '!atomic_add' --graph images.py --emit=tile --target sm_90a

cat > sums.py <<'GRAPH'
def forward(self, x: "f16[300, 64]", w: "f16[64, 256]", i: "i64[300]", z: "f32[16, 256]", y: "f16[33, 40]", j: "i64[33]", u: "f16[9, 40]"):
    m = torch.ops.aten.mm.default(x, w)
    f = torch.ops.aten._to_copy.default(m, dtype = torch.float32)
    a = torch.ops.aten.index_add.default(z, 0, i, f)
    b = torch.ops.aten.index_add.default(u, 0, j, y)
    return (a, b)
GRAPH
simulated "sums by atomics" sums.py
check "sums by atomics: vectors" 0 'red\.relaxed\.gpu\.global\.add\.v4\.f32' --graph sums.py --emit=ptx --target sm_90a
check "sums by atomics: one by one before sm_90" 0 '!red\.relaxed\.gpu\.global\.add\.v' --graph sums.py --emit=ptx --target sm_80

# A mask is no matrix of numbers: a tensor map neither stores nor loads it, the other results take theirs.
cat > masks.py <<'GRAPH'
def forward(self, x: "f16[70, 48]", w: "f16[48, 96]", b: "f16[96]", k: "b8[70, 96]"):
    m = torch.ops.aten.addmm.default(b, x, w)
    p = torch.ops.aten.gt.Scalar(m, 0.25)
    r = torch.ops.aten.where.self(p, m, b)
    z = torch.ops.aten.mm.default(x, w)
    q = torch.ops.aten.mul.Tensor(z, k)
    return (p, r, q)
GRAPH
simulated "masks of products" masks.py
check "masks of products: tensor maps for the others" 0 'out[0-9]+_tiles = tl\.make_tensor_descriptor\(' --graph masks.py --emit=tile --target sm_90a
check "masks of products: none for the masks" 0 '!make_tensor_descriptor\(out2' --graph masks.py --emit=tile --target sm_90a
