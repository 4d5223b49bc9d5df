class GraphModule(torch.nn.Module):
    def forward(self, x: "f32[4, 8][8, 1]cpu", w: "bf16[8, 8][8, 1]cpu"):
        mm: "f32[4, 8]" = torch.ops.aten.mm.default(x, w)
        embedding: "f32[4, 8, 8]" = torch.ops.aten.embedding.default(x, x)
        bitwise_not: "f32[4, 8]" = torch.ops.aten.bitwise_not.default(x)
        return (mm, embedding, bitwise_not)
