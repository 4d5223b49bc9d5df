class GraphModule(torch.nn.Module):
    def forward(self, x: "f32[1, 1, 3, 4]"):
        a = torch.ops.aten.arange.start_step(inf, 150, 3)
        b = torch.ops.aten.upsample_nearest2d.vec(x, None, [-inf, 2.0])
        return (a, b)
