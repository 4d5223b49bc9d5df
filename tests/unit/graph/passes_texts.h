// SPDX-License-Identifier: Apache-2.0
// Small graphs (from the parameters on) and their simplified form.
static const struct text_case texts[] = {
    {"no-ops",
     "x: \"f32[4, 6]\"):\n"
     "        a = torch.ops.aten.add.Tensor(x, 0)\n"
     "        b = torch.ops.aten.mul.Tensor(a, 1.0)\n"
     "        c = torch.ops.aten.expand.default(b, [4, 6])\n"
     "        d = torch.ops.aten.clone.default(c)\n"
     "        e = torch.ops.aten.sin.default(d)\n"
     "        f = torch.ops.aten.cos.default(x)\n"
     "        return (e,)\n",
     "e = torch.ops.aten.sin.default(x)\n"
     "return (e,)\n"},
    {"equal-nodes",
     "x: \"f32[4, 6]\"):\n"
     "        a = torch.ops.aten.sin.default(x)\n"
     "        b = torch.ops.aten.sin.default(x)\n"
     "        c = torch.ops.aten.add.Tensor(a, b)\n"
     "        d = torch.ops.aten.add.Tensor(c, 0.5)\n"
     "        e = torch.ops.aten.add.Tensor(c, 0.5)\n"
     "        f = torch.ops.aten.add.Tensor(c, 0.25)\n"
     "        return (d, e, f)\n",
     "a = torch.ops.aten.sin.default(x)\n"
     "c = torch.ops.aten.add.Tensor(a, a)\n"
     "d = torch.ops.aten.add.Tensor(c, 0.5)\n"
     "f = torch.ops.aten.add.Tensor(c, 0.25)\n"
     "return (d, d, f)\n"},
    {"masks-that-are-true",
     "x: \"f32[2, 8, 8]\"):\n"
     "        i = torch.ops.aten.arange.default(8)\n"
     "        a = torch.ops.aten.add.Tensor(i, 0)\n"
     "        b = torch.ops.aten.unsqueeze.default(a, 1)\n"
     "        c = torch.ops.aten.ge.Scalar(b, 0)\n"
     "        d = torch.ops.aten.expand.default(c, [2, 8, 8])\n"
     "        zero = torch.ops.aten.scalar_tensor.default(0.0, dtype = torch.float32)\n"
     "        low = torch.ops.aten.scalar_tensor.default(-inf, dtype = torch.float32)\n"
     "        mask = torch.ops.aten.where.self(d, zero, low)\n"
     "        r = torch.ops.aten.add.Tensor(x, mask)\n"
     "        return (r,)\n",
     "return (x,)\n"},
    {"positions",
     "x: \"f32[1, 1, 8, 8]\"):\n"
     "        i = torch.ops.aten.arange.default(8)\n"
     "        row = torch.ops.aten.unsqueeze.default(i, 0)\n"
     "        e = torch.ops.aten.expand.default(row, [2, -1])\n"
     "        first = torch.ops.aten.slice.Tensor(e, 1, 0, 1)\n"
     "        before = torch.ops.aten.sub.Tensor(first, 1)\n"
     "        cat = torch.ops.aten.cat.default([before, e], -1)\n"
     "        left = torch.ops.aten.slice.Tensor(cat, -1, 0, 8)\n"
     "        right = torch.ops.aten.slice.Tensor(cat, -1, 1, 9)\n"
     "        step = torch.ops.aten.sub.Tensor(right, left)\n"
     "        ne = torch.ops.aten.ne.Scalar(step, 1)\n"
     "        document = torch.ops.aten.cumsum.default(ne, -1)\n"
     "        q = torch.ops.aten.view.default(i, [1, 1, 8, 1])\n"
     "        k = torch.ops.aten.view.default(i, [1, 1, 1, 8])\n"
     "        n1 = torch.ops.aten.arange.default(2)\n"
     "        batch = torch.ops.aten.view.default(n1, [2, 1, 1, 1])\n"
     "        le = torch.ops.aten.le.Tensor(k, q)\n"
     "        of_q = torch.ops.aten.index.Tensor(document, [batch, q])\n"
     "        of_k = torch.ops.aten.index.Tensor(document, [batch, k])\n"
     "        same = torch.ops.aten.eq.Tensor(of_q, of_k)\n"
     "        both = torch.ops.aten.bitwise_and.Tensor(le, same)\n"
     "        n2 = torch.ops.aten.full.default([], 0.0)\n"
     "        r = torch.ops.aten.where.self(both, x, n2)\n"
     "        return (r,)\n",
     "i = torch.ops.prims.iota.default(8, start = 0, step = 1, dtype = torch.int64, requires_grad "
     "= False)\n"
     "q = torch.ops.aten.view.default(i, [1, 1, 8, 1])\n"
     "k = torch.ops.aten.view.default(i, [1, 1, 1, 8])\n"
     "le = torch.ops.aten.le.Tensor(k, q)\n"
     "both = torch.ops.aten.expand.default(le, [2, 1, 8, 8])\n"
     "n2 = torch.ops.aten.full.default([], 0.0, dtype = torch.float32)\n"
     "r = torch.ops.aten.where.self(both, x, n2)\n"
     "return (r,)\n"},
    {"counters",
     "x: \"f32[3, 8]\"):\n"
     "        one = torch.ops.aten.ones.default([3, 8], dtype = torch.int64)\n"
     "        at = torch.ops.aten.cumsum.default(one, 1)\n"
     "        back = torch.ops.aten.flip.default(at, [1])\n"
     "        part = torch.ops.aten.slice.Tensor(back, 1, 2, 6, 2)\n"
     "        return (at, part)\n",
     "iota = torch.ops.prims.iota.default(8, start = 1, step = 1, dtype = torch.int64, "
     "requires_grad = False)\n"
     "view = torch.ops.aten.view.default(iota, [1, 8])\n"
     "at = torch.ops.aten.expand.default(view, [3, 8])\n"
     "iota_2 = torch.ops.prims.iota.default(2, start = 6, step = -2, dtype = torch.int64, "
     "requires_grad = False)\n"
     "view_2 = torch.ops.aten.view.default(iota_2, [1, 2])\n"
     "part = torch.ops.aten.expand.default(view_2, [3, 2])\n"
     "return (at, part)\n"},
    {"numbers",
     "x: \"i64[3, 8]\"):\n"
     "        a = torch.ops.aten.full.default([3, 8], 2, dtype = torch.int64)\n"
     "        b = torch.ops.aten.full_like.default(x, 3)\n"
     "        c = torch.ops.aten.mul.Tensor(a, b)\n"
     "        d = torch.ops.aten.add.Tensor(c, x)\n"
     "        e = torch.ops.aten.sum.dim_IntList(c, [0])\n"
     "        f = torch.ops.aten.mul.Tensor(x, 0)\n"
     "        return (d, e, f)\n",
     "d = torch.ops.aten.add.Tensor(x, 6)\n"
     "e = torch.ops.aten.full.default([8], 18, dtype = torch.int64)\n"
     "f = torch.ops.aten.full.default([3, 8], 0, dtype = torch.int64)\n"
     "return (d, e, f)\n"},
    {"causal-attention",
     "q: \"f32[2, 4, 8, 16]\", k: \"f32[2, 4, 8, 16]\", v: \"f32[2, 4, 8, 16]\"):\n"
     "        i = torch.ops.aten.arange.default(8)\n"
     "        n1 = torch.ops.aten.view.default(i, [8, 1])\n"
     "        n2 = torch.ops.aten.view.default(i, [1, 8])\n"
     "        le = torch.ops.aten.le.Tensor(n2, n1)\n"
     "        e = torch.ops.aten.expand.default(le, [2, 1, 8, 8])\n"
     "        n3 = torch.ops.aten.scalar_tensor.default(-inf)\n"
     "        n4 = torch.ops.aten.scalar_tensor.default(0.0)\n"
     "        mask = torch.ops.aten.where.self(e, n4, n3)\n"
     "        r = torch.ops.aten.scaled_dot_product_attention.default(q, k, v, mask)\n"
     "        return (r,)\n",
     "attention = torch.ops.tile.attention.default(q, k, v, None, True, 0.25)\n"
     "r = attention[0]\n"
     "return (r,)\n"},
    {"causal-attention-with-padding",
     "q: \"f32[2, 4, 8, 16]\", k: \"f32[2, 4, 8, 16]\", v: \"f32[2, 4, 8, 16]\", m: \"b8[2, 1, 1, "
     "8]\"):\n"
     "        i = torch.ops.aten.arange.default(8)\n"
     "        n1 = torch.ops.aten.view.default(i, [1, 8])\n"
     "        n2 = torch.ops.aten.view.default(i, [8, 1])\n"
     "        le = torch.ops.aten.ge.Tensor(n2, n1)\n"
     "        both = torch.ops.aten.bitwise_and.Tensor(m, le)\n"
     "        r = torch.ops.aten.scaled_dot_product_attention.default(q, k, v, both)\n"
     "        return (r,)\n",
     "attention = torch.ops.tile.attention.default(q, k, v, m, True, 0.25)\n"
     "r = attention[0]\n"
     "return (r,)\n"},
    {"chains-of-views",
     "x: \"f32[2, 3, 4]\"):\n"
     "        a = torch.ops.aten.view.default(x, [6, 4])\n"
     "        b = torch.ops.aten.view.default(a, [3, 8])\n"
     "        c = torch.ops.aten.unsqueeze.default(b, 0)\n"
     "        d = torch.ops.aten.squeeze.dim(c, 0)\n"
     "        e = torch.ops.aten.permute.default(d, [1, 0])\n"
     "        f = torch.ops.aten.permute.default(e, [1, 0])\n"
     "        g = torch.ops.aten.slice.Tensor(f, 1, 1, 7)\n"
     "        h = torch.ops.aten.slice.Tensor(g, 1, 2, 9223372036854775807, 2)\n"
     "        n1 = torch.ops.aten.unsqueeze.default(h, 0)\n"
     "        i = torch.ops.aten.expand.default(n1, [5, 3, 2])\n"
     "        j = torch.ops.aten.slice.Tensor(i, 0, 1, 3)\n"
     "        n2 = torch.ops.aten.sin.default(j)\n"
     "        return (n2,)\n",
     "d = torch.ops.aten.view.default(x, [3, 8])\n"
     "h = torch.ops.aten.slice.Tensor(d, 1, 3, 7, 2)\n"
     "n1 = torch.ops.aten.unsqueeze.default(h, 0)\n"
     "j = torch.ops.aten.expand.default(n1, [2, 3, 2])\n"
     "n2 = torch.ops.aten.sin.default(j)\n"
     "return (n2,)\n"},
    {"pieces",
     "x: \"f32[2, 3]\", y: \"f32[2, 5]\"):\n"
     "        a = torch.ops.aten.cat.default([x, y], 1)\n"
     "        b = torch.ops.aten.slice.Tensor(a, 1, 4, 7)\n"
     "        c = torch.ops.aten.constant_pad_nd.default(b, [0, 0])\n"
     "        d = torch.ops.aten.slice_scatter.default(y, x, 1, 0, 3)\n"
     "        n1 = torch.ops.aten.sin.default(c)\n"
     "        return (n1, d)\n",
     "b = torch.ops.aten.slice.Tensor(y, 1, 1, 4)\n"
     "d = torch.ops.aten.slice_scatter.default(y, x, 1, 0, 3)\n"
     "n1 = torch.ops.aten.sin.default(b)\n"
     "return (n1, d)\n"},
    {"conversions",
     "x: \"bf16[4]\", y: \"f32[4]\"):\n"
     "        a = torch.ops.prims.convert_element_type.default(x, torch.float32)\n"
     "        b = torch.ops.prims.convert_element_type.default(a, torch.bfloat16)\n"
     "        c = torch.ops.prims.convert_element_type.default(y, torch.bfloat16)\n"
     "        d = torch.ops.prims.convert_element_type.default(c, torch.float32)\n"
     "        n1 = torch.ops.aten.sin.default(d)\n"
     "        n2 = torch.ops.aten.sin.default(b)\n"
     "        return (n2, n1)\n",
     "c = torch.ops.prims.convert_element_type.default(y, torch.bfloat16)\n"
     "d = torch.ops.prims.convert_element_type.default(c, torch.float32)\n"
     "n1 = torch.ops.aten.sin.default(d)\n"
     "n2 = torch.ops.aten.sin.default(x)\n"
     "return (n2, n1)\n"},
    {"scatter-of-one",
     "t: \"i64[4, 1]\", g: \"f32[]\"):\n"
     "        z = torch.ops.aten.full.default([4, 9], 0.0)\n"
     "        s = torch.ops.aten.scatter.value(z, 1, t, -1.0)\n"
     "        r = torch.ops.aten.mul.Tensor(s, g)\n"
     "        return (r,)\n",
     "z = torch.ops.aten.full.default([4, 9], 0.0, dtype = torch.float32)\n"
     "full_1 = torch.ops.aten.full.default([], -1.0, dtype = torch.float32)\n"
     "iota = torch.ops.prims.iota.default(9, start = 0, step = 1, dtype = torch.int64, "
     "requires_grad = False)\n"
     "view = torch.ops.aten.view.default(iota, [1, 9])\n"
     "eq = torch.ops.aten.eq.Tensor(view, t)\n"
     "s = torch.ops.aten.where.self(eq, full_1, z)\n"
     "r = torch.ops.aten.mul.Tensor(s, g)\n"
     "return (r,)\n"},
    {"truths",
     "x: \"b8[4]\", y: \"f32[4]\"):\n"
     "        t = torch.ops.aten.full.default([4], True, dtype = torch.bool)\n"
     "        a = torch.ops.aten.bitwise_and.Tensor(t, x)\n"
     "        b = torch.ops.aten.logical_not.default(a)\n"
     "        c = torch.ops.aten.logical_not.default(b)\n"
     "        n1 = torch.ops.aten.neg.default(y)\n"
     "        d = torch.ops.aten.where.self(b, y, n1)\n"
     "        e = torch.ops.aten.eq.Scalar(c, False)\n"
     "        return (c, d, e)\n",
     "n1 = torch.ops.aten.neg.default(y)\n"
     "d = torch.ops.aten.where.self(x, n1, y)\n"
     "e = torch.ops.aten.logical_not.default(x)\n"
     "return (x, d, e)\n"},
    {"column-times-row",
     "x: \"f32[2, 16, 1]\", y: \"f32[2, 1, 8]\"):\n"
     "        r = torch.ops.aten.bmm.default(x, y)\n"
     "        return (r,)\n",
     "r = torch.ops.aten.mul.Tensor(x, y)\n"
     "return (r,)\n"},
    {"outputs-lie-as-they-did",
     "x: \"f32[4, 6]\"):\n"
     "        a = torch.ops.aten.sin.default(x)\n"
     "        b = torch.ops.aten.permute.default(a, [1, 0])\n"
     "        c = torch.ops.aten.clone.default(b, memory_format = torch.contiguous_format)\n"
     "        n1 = torch.ops.aten.permute.default(x, [1, 0])\n"
     "        d = torch.ops.aten.clone.default(n1, memory_format = torch.contiguous_format)\n"
     "        return (a, b, c, d, x)\n",
     "a = torch.ops.aten.sin.default(x)\n"
     "b = torch.ops.aten.permute.default(a, [1, 0])\n"
     "n1 = torch.ops.aten.permute.default(x, [1, 0])\n"
     "clone = torch.ops.aten.clone.default(b)\n"
     "return (a, b, clone, n1, x)\n"},
    {"streams",
     "x: \"f32[4]\"):\n"
     "        a = torch.ops.aten.rand.default([4])\n"
     "        b = torch.ops.aten.rand.default([4])\n"
     "        c = torch.ops.aten.rand.default([4])\n"
     "        return (c, b)\n",
     "b = torch.ops.tile.rand.default([4], stream = 1)\n"
     "c = torch.ops.tile.rand.default([4], stream = 2)\n"
     "return (c, b)\n"},
    {"broadcasts",
     "x: \"f32[2, 4, 6]\", b: \"f32[6]\", m: \"b8[4, 1]\"):\n"
     "        e = torch.ops.aten.expand.default(b, [2, 4, 6])\n"
     "        f = torch.ops.aten.expand.default(m, [2, 4, 6])\n"
     "        a = torch.ops.aten.add.Tensor(x, e)\n"
     "        r = torch.ops.aten.where.self(f, a, e)\n"
     "        return (r,)\n",
     "a = torch.ops.aten.add.Tensor(x, b)\n"
     "r = torch.ops.aten.where.self(m, a, b)\n"
     "return (r,)\n"},
    {"symbols",
     "s0: \"Sym(s0)\", x: \"f32[s0, 6]\"):\n"
     "        i = torch.ops.aten.arange.default(s0)\n"
     "        a = torch.ops.aten.ge.Scalar(i, 0)\n"
     "        m = torch.ops.aten.unsqueeze.default(a, 1)\n"
     "        z = torch.ops.aten.full.default([], 0.0)\n"
     "        w = torch.ops.aten.where.self(m, x, z)\n"
     "        v = torch.ops.aten.view.default(w, [-1])\n"
     "        u = torch.ops.aten.view.default(v, [s0, 6])\n"
     "        y = torch.ops.aten.mean.dim(u, [0])\n"
     "        n1 = torch.ops.aten.sub.Tensor(u, y)\n"
     "        return (n1,)\n",
     "sum = torch.ops.aten.sum.dim_IntList(x, [0])\n"
     "y = torch.ops.aten.div.Tensor(sum, s0)\n"
     "n1 = torch.ops.aten.sub.Tensor(x, y)\n"
     "return (n1,)\n"},
};
