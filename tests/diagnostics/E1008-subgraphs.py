class G(torch.nn.Module):
    def forward(self, p: "b8[]", x: "f32[4]", q: "f32[1, 2, 4, 8]"):
        writes = self.writes
        a = torch.ops.higher_order.cond(p, writes, writes, (x,))
        sized = self.sized
        owns = self.owns
        draws = self.draws
        b = torch.ops.higher_order.cond(p, draws, draws, (x,))
        matrix = self.matrix
        c = torch.ops.higher_order.flex_attention(q, q, q, matrix, (4, 4, draws), 0.5, {}, (), ())
        return (x,)

    class writes(torch.nn.Module):
        def forward(self, x: "f32[4]"):
            y: "f32[4]" = torch.ops.aten.neg.default(x)
            copy_: "f32[4]" = torch.ops.aten.copy_.default(x, y)
            return (y,)

    class sized(torch.nn.Module):
        def forward(self, x: "f32[s7]"):
            return (x,)

    class owns(torch.nn.Module):
        def forward(self, x: "f32[4]"):
            c: "f32[4]" = self._tensor_constant0
            return (c,)

    class draws(torch.nn.Module):
        def forward(self, x: "f32[4]"):
            y: "f32[4]" = torch.ops.aten.rand.default([4])
            return (y,)

    class matrix(torch.nn.Module):
        def forward(self, s: "f32[]", b: "i32[]", h: "i32[]", i: "i32[]", j: "i32[]"):
            r: "f32[3]" = torch.ops.aten.expand.default(s, [3])
            t: "f32[]" = torch.ops.aten.sum.default(r)
            return t
