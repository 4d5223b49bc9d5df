class GraphModule(torch.nn.Module):
    def forward(self, x: "f32[8, 8][8, 1]cpu"):
        special_zeta: "f32[8, 8]" = torch.ops.aten.special_zeta.default(x)
        softmax: "f32[8, 8]" = torch.ops.aten.sofmax.int(special_zeta, -1)
        special_zeta_1: "f32[8, 8]" = torch.ops.aten.special_zeta.default(softmax)
        neg: "f32[8, 8]" = torch.ops.aten.neg.default(special_zeta_1)
        return (neg,)
