class GraphModule(torch.nn.Module):
    def forward(self, x: "f32[4, 8][8, 1]cpu", w: "f32[16, 8][8, 1]cpu"):
        mm: "f32[4, 16]" = torch.ops.aten.mm.default(x, w)
        add: "f32[4, 8]" = torch.ops.aten.add.Tensor(x, w)
        view: "f32[5, 8]" = torch.ops.aten.view.default(x, [5, 8])
        cat: "f32[20, 8]" = torch.ops.aten.cat.default([x, w], 1)
        return (mm, add, view, cat)
