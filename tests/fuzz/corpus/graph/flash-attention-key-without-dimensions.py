class GraphModule(torch.nn.Module):
    def forward(self, q: "f32[2, 2, 4]", k: "f32[]", v: "f32[9, 1, 4]", c: "i32[4]", d: "i32[4]"):
        r = torch.ops.aten._flash_attention_forward.default(q, k, v, c, d, 1, 4, 0.0, True, False, scale = 0.5)
        q = r[0]
        return (q,)
