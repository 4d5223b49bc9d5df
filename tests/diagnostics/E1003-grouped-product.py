class <lambda>(torch.nn.Module):
    def forward(self, x: "bf16[8, 16]", w: "bf16[3, 16, 8]", offs: "i32[3]", bias: "bf16[3, 8]"):
        a = torch.ops.aten._grouped_mm.default(x, w)
        return (a,)
