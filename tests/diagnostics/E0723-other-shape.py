# RUN: --run --target cpu --arg a=f16[4x6]:ones --arg b=f32[3x7]:iota
def forward(self, a: "f32[4, 6]", b: "f32[3, 5]"):
    neg: "f32[4, 6]" = torch.ops.aten.neg.default(a)
    cos: "f32[3, 5]" = torch.ops.aten.cos.default(b)
    return (neg, cos)
