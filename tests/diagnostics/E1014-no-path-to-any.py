# RUN: --grad
class GraphModule(torch.nn.Module):
    def forward(self, x: "f32[4]", y: "f32[4]"):
        detach: "f32[4]" = torch.ops.aten.detach.default(x)
        loss: "f32[]" = torch.ops.aten.sum.default(detach)
        return (loss, y)
