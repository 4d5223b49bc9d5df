class G(torch.nn.Module):
    def forward(self, p: "b8[2]", q: "f32[]", x: "f32[4]"):
        same = self.same
        a = torch.ops.higher_order.cond(p, same, same, (x,))
        b = torch.ops.higher_order.cond(q, same, same, (x,))
        c = torch.ops.higher_order.while_loop(same, same, (x,), ())
        return (x,)

    class same(torch.nn.Module):
        def forward(self, x: "f32[4]"):
            y: "f32[4]" = torch.ops.aten.neg.default(x)
            return (y,)
