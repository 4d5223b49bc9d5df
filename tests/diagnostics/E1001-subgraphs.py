class G(torch.nn.Module):
    def forward(self, p: "b8[]", x: "f32[4]"):
        one = self.one
        missing = self.missing
        a = torch.ops.higher_order.cond(p, one, missing, (x,))
        return (x,)

    class one(torch.nn.Module):
        def forward(self, x: "f32[4]"):
            return (x,)
