class G(torch.nn.Module):
    def forward(self, p: "b8[]", x: "f32[4]", w: "f32[3, 4]", v: "f32[2]"):
        same = self.same
        longer = self.longer
        whole = self.whole
        tall = self.tall
        a = torch.ops.higher_order.cond(p, same, longer, (x,))
        b = torch.ops.higher_order.cond(p, same, whole, (x,))
        c = torch.ops.higher_order.cond(p, same, same, (w,))
        d = torch.ops.higher_order.while_loop(tall, longer, (x,), ())
        e = torch.ops.higher_order.scan(longer, [x], [w, v], ())
        return (x,)

    class same(torch.nn.Module):
        def forward(self, x: "f32[4]"):
            y: "f32[4]" = torch.ops.aten.neg.default(x)
            return (y,)

    class longer(torch.nn.Module):
        def forward(self, x: "f32[4]"):
            y: "f32[8]" = torch.ops.aten.cat.default([x, x])
            return (y,)

    class whole(torch.nn.Module):
        def forward(self, x: "f32[4]"):
            y: "i64[4]" = torch.ops.aten._to_copy.default(x, dtype = torch.int64)
            return (y,)

    class tall(torch.nn.Module):
        def forward(self, x: "f32[4]"):
            y: "f32[]" = torch.ops.aten.amax.default(x)
            z: "b8[]" = torch.ops.aten.lt.Scalar(y, 9)
            return (z,)
