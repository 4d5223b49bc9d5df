class GraphModule(torch.nn.Module):
    def forward(self, x: "f32[2, 4]", y: "f32[3]"):
        a = torch.ops.aten.reflection_pad1d.default(x, [9223372036854775807, 1])
        b = torch.ops.aten.diagonal_backward.default(y, [3, 4], -9223372036854775808, 0, 1)
        return (a, b)
