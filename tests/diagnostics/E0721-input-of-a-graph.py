# RUN: --run --target=cpu --arg arg0=f32[4x8]:ones
def forward(self, arg0_1: "f32[s0, 8]", arg1_1: "f32[s0, 8]"):
    add: "f32[s0, 8]" = torch.ops.aten.add.Tensor(arg0_1, arg1_1)
    return (add,)
