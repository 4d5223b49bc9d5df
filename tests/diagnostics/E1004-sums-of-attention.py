# A log-sum-exp without heads
class GraphModule(torch.nn.Module):
    def forward(self, q: "f16[2, 8, 2, 32]", g: "f16[2, 8, 2, 32]", sums: "f32[2, 16]", n: "i64[]"):
        back = torch.ops.aten._efficient_attention_backward.default(g, q, q, q, None, g, None, None, 8, 8, sums, 0.0, n, n, 0, False)
        dq = back[0]
        return (dq,)
