class GraphModule(torch.nn.Module):
    def forward(self, a: "c64[4]", b: "f32[4]"):
        r = torch.ops.aten.where.self(a, -2, b)
        return (r,)
