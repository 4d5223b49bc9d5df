class GraphModule(torch.nn.Module):
    def forward(self, a: "f32[4294967296, 3, 2]"):
        r = torch.ops.aten.diff.default(a, 65536, 0, a)
        return (r,)
