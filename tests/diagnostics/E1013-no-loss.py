# RUN: --grad --loss logits,index
class GraphModule(torch.nn.Module):
    def forward(self, x: "f32[4, 2]"):
        logits: "f32[4, 2]" = torch.ops.aten.exp.default(x)
        index: "i64[]" = torch.ops.aten.argmax.default(logits)
        return (logits, index)
