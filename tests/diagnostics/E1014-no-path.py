# RUN: --grad --wrt scale,index
class GraphModule(torch.nn.Module):
    def forward(self, x: "f32[4]", scale: "f32[]", index: "i64[4]"):
        round: "f32[]" = torch.ops.aten.round.default(scale)
        gather: "f32[4]" = torch.ops.aten.gather.default(x, 0, index)
        mul: "f32[4]" = torch.ops.aten.mul.Tensor(gather, round)
        loss: "f32[]" = torch.ops.aten.sum.default(mul)
        return (loss,)
