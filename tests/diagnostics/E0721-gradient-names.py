# RUN: --grad --loss los --wrt wieght,z
class GraphModule(torch.nn.Module):
    def forward(self, x: "f32[4]", weight: "f32[4]"):
        mul: "f32[4]" = torch.ops.aten.mul.Tensor(x, weight)
        loss: "f32[]" = torch.ops.aten.sum.default(mul)
        return (loss,)
