class GraphModule(torch.nn.Module):
    def forward(self, x: "f32[2, 4]"):
        pad: "f32[2, 8]" = torch.ops.aten.reflection_pad1d.default(x, [9223372036854775807, 1])
        return (pad,)
