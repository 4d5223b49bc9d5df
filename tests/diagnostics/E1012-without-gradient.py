# RUN: --grad
class GraphModule(torch.nn.Module):
    def forward(self, x: "f32[4]", n: "f32[4]"):
        test = self.test
        body = self.body
        loop = torch.ops.higher_order.while_loop(test, body, (x,), ())
        y: "f32[4]" = loop[0]
        loop_1 = torch.ops.higher_order.while_loop(test, body, (y,), ())
        z: "f32[4]" = loop_1[0]
        loop_2 = torch.ops.higher_order.while_loop(test, body, (n,), ())
        unused: "f32[4]" = loop_2[0]
        loss: "f32[]" = torch.ops.aten.sum.default(z)
        return (loss, unused)
    class test(torch.nn.Module):
        def forward(self, x: "f32[4]"):
            sum: "f32[]" = torch.ops.aten.sum.default(x)
            lt: "b8[]" = torch.ops.aten.lt.Scalar(sum, 10)
            return (lt,)
    class body(torch.nn.Module):
        def forward(self, x: "f32[4]"):
            mul: "f32[4]" = torch.ops.aten.mul.Tensor(x, 2)
            return (mul,)
