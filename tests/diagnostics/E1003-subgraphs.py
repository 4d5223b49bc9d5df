class G(torch.nn.Module):
    def forward(self, p: "b8[]", x: "f32[4]", n: "i64[]"):
        one = self.one
        two = self.two
        pair = self.pair
        a = torch.ops.higher_order.cond(p, one, two, (x,))
        b = torch.ops.higher_order.cond(p, one, pair, (x,))
        c = torch.ops.higher_order.cond(p, one, one)
        d = torch.ops.higher_order.cond(p, x, one, (x,))
        e = torch.ops.higher_order.while_loop(pair, pair, (x,), ())
        f = torch.ops.higher_order.scan(two, [x], [], ())
        h = torch.ops.higher_order.associative_scan(one, [x], ())
        g = torch.ops.higher_order.invoke_subgraph(two, 'name', x)
        return (x,)

    class one(torch.nn.Module):
        def forward(self, x: "f32[4]"):
            y: "f32[4]" = torch.ops.aten.neg.default(x)
            return (y,)

    class two(torch.nn.Module):
        def forward(self, x: "f32[4]", y: "f32[4]"):
            z: "f32[4]" = torch.ops.aten.add.Tensor(x, y)
            return (z,)

    class pair(torch.nn.Module):
        def forward(self, x: "f32[4]"):
            y: "f32[4]" = torch.ops.aten.exp.default(x)
            return (x, y)
