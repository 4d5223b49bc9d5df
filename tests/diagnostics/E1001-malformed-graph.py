class GraphModule(torch.nn.Module):
    def forward(self, x: "f33[8]", y, z: "f32[8][1, 1]cpu"):
        # The statement goes on, the next ones are still read.
        neg: "f32[8]" = torch.ops.aten.neg.default(x) y
        sin: "f32[8 = torch.ops.aten.sin.default(x)
        cos: "f32[8]" = torch.ops.aten.cos.default(x, )
        return cos
