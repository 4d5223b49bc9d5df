class GraphModule(torch.nn.Module):
    def forward(self, x: "f32[s0, 16]", w: "f32[16, 16]", i: "i64[4]", s0: "Sym(s0)"):
        y = torch.ops.aten.add.Tensor(x, x)
        y1 = torch.ops.aten.add.Tensor(y, y)
        y2 = torch.ops.aten.add.Tensor(y1, y1)
        m = torch.ops.aten.mm.default(y2, w)
        p = torch.ops.aten.permute.default(m, [1, 0])
        c = torch.ops.aten.cat.default([p, p, p], 1)
        s = torch.ops.aten.index_select.default(c, 0, i)
        a = torch.ops.aten.amax.default(s, [1], True)
        e = torch.ops.aten.sub.Tensor(s, a)
        t = torch.ops.aten.sum.dim_IntList(e, [0], False)
        return (m, t)
