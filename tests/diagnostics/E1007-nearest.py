class GraphModule(torch.nn.Module):
    def forward(self, bias: "f32[64]", x: "f32[64]"):
        sum_of: "f32[64]" = torch.ops.aten.add.Tensor(bais, x)
        out: "f32[64]" = torch.ops.aten.mul.Tensor(sum_off, xs)
        return (nothing_here,)
