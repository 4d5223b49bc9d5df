class GraphModule(torch.nn.Module):
    def forward(self, x: "f32[4]"):
        test = self.test
        body = self.body
        loop = torch.ops.higher_order.while_loop(test, body, (x,), test)
        y: "f32[4]" = loop[0]
        return (y,)
    class test(torch.nn.Module):
        def forward(self, x: "f32[4]"):
            sum: "f32[]" = torch.ops.aten.sum.default(x)
            lt: "b8[]" = torch.ops.aten.lt.Scalar(sum, 10)
            return (lt,)
    class body(torch.nn.Module):
        def forward(self, x: "f32[4]"):
            mul: "f32[4]" = torch.ops.aten.mul.Tensor(x, 2)
            return (mul,)
