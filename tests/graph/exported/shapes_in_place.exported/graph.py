ExportedProgram:
    class GraphModule(torch.nn.Module):
        def forward(self, a: "f32[s97, 5]"):
            mul: "f32[s97, 5]" = torch.ops.aten.mul.Tensor(a, 2)
            view: "f32[5*s97]" = torch.ops.aten.view.default(mul, [-1])
            unsqueeze_: "f32[s97, 1, 5]" = torch.ops.aten.unsqueeze_.default(mul, 1);  mul = None
            add_: "f32[s97, 1, 5]" = torch.ops.aten.add_.Tensor(unsqueeze_, 1);  unsqueeze_ = None
            mul_: "f32[5*s97]" = torch.ops.aten.mul_.Tensor(view, 3);  view = None
            add: "f32[s97, 5]" = torch.ops.aten.add.Tensor(a, 1)
            t_: "f32[5, s97]" = torch.ops.aten.t_.default(add);  add = None
            select: "f32[s97]" = torch.ops.aten.select.int(t_, 0, 0)
            fill_: "f32[s97]" = torch.ops.aten.fill_.Scalar(select, 7);  select = fill_ = None
            exp: "f32[s97, 5]" = torch.ops.aten.exp.default(a);  a = None
            transpose_: "f32[5, s97]" = torch.ops.aten.transpose_.default(exp, 0, 1);  exp = None
            unsqueeze__1: "f32[1, 5, s97]" = torch.ops.aten.unsqueeze_.default(transpose_, 0);  transpose_ = None
            squeeze_: "f32[5, s97]" = torch.ops.aten.squeeze_.dim(unsqueeze__1, 0);  unsqueeze__1 = None
            relu_: "f32[5, s97]" = torch.ops.aten.relu_.default(squeeze_);  squeeze_ = None
            return (add_, mul_, t_, relu_)
Graph signature:
    # inputs
    a: USER_INPUT
    # outputs
    add_: USER_OUTPUT
    mul_: USER_OUTPUT
    t_: USER_OUTPUT
    relu_: USER_OUTPUT
Range constraints: {s97: VR[0, int_oo]}
