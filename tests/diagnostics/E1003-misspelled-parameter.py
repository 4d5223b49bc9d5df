def forward(self, arg0_1: "f32[4, 8]"):
    sum: "f32[4]" = torch.ops.aten.sum.dim_IntList(arg0_1, dmi=[1])
    return (sum,)
