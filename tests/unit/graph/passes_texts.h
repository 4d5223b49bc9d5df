// SPDX-License-Identifier: Apache-2.0
// Small graphs (from the parameters on) and what is left of them.
static const struct text_case texts[] = {
    {"no-ops",
     X "):\n"
       "        a = torch.ops.aten.add.Tensor(x, 0)\n"
       "        b = torch.ops.aten.mul.Tensor(a, 1.0)\n"
       "        c = torch.ops.aten.expand.default(b, [4, 6])\n"
       "        d = torch.ops.aten.clone.default(c)\n"
       "        e = torch.ops.aten.sin.default(d)\n"
       "        f = torch.ops.aten.cos.default(x)\n"
       "        return (e,)\n",
     "e = torch.ops.aten.sin.default(x)\nreturn (e,)\n"},
};
