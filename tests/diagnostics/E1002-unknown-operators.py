class GraphModule(torch.nn.Module):
    def forward(self, x: "f32[8, 8][8, 1]cpu"):
        special_airy_ai: "f32[8, 8]" = torch.ops.aten.special_airy_ai.default(x)
        softmax: "f32[8, 8]" = torch.ops.aten.sofmax.int(special_airy_ai, -1)
        special_airy_ai_1: "f32[8, 8]" = torch.ops.aten.special_airy_ai.default(softmax)
        neg: "f32[8, 8]" = torch.ops.aten.neg.default(special_airy_ai_1)
        return (neg,)
