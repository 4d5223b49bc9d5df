ExportedProgram:
    class GraphModule(torch.nn.Module):
        def forward(self, a: "f32[s97, 3]"):
            sum_1: "f32[]" = torch.ops.aten.sum.default(a)
            gt: "b8[]" = torch.ops.aten.gt.Scalar(sum_1, 0);  sum_1 = None
            true_graph_0 = self.true_graph_0
            false_graph_0 = self.false_graph_0
            cond = torch.ops.higher_order.cond(gt, true_graph_0, false_graph_0, (a,));  gt = true_graph_0 = false_graph_0 = a = None
            getitem: "f32[s97, 3]" = cond[0];  cond = None
            zeros: "i64[]" = torch.ops.aten.zeros.default([], dtype = torch.int64, device = device(type='cpu'), pin_memory = False)
            while_loop_cond_graph_0 = self.while_loop_cond_graph_0
            while_loop_body_graph_0 = self.while_loop_body_graph_0
            while_loop = torch.ops.higher_order.while_loop(while_loop_cond_graph_0, while_loop_body_graph_0, (zeros, getitem), ());  while_loop_cond_graph_0 = while_loop_body_graph_0 = zeros = getitem = None
            getitem_1: "i64[]" = while_loop[0]
            getitem_2: "f32[s97, 3]" = while_loop[1];  while_loop = None
            return (getitem_1, getitem_2)
        class true_graph_0(torch.nn.Module):
            def forward(self, a: "f32[s97, 3]"):
                max_1: "f32[]" = torch.ops.aten.max.default(a)
                gt: "b8[]" = torch.ops.aten.gt.Scalar(max_1, 2);  max_1 = None
                true_graph_0 = self.true_graph_0
                false_graph_0 = self.false_graph_0
                cond = torch.ops.higher_order.cond(gt, true_graph_0, false_graph_0, (a,));  gt = true_graph_0 = false_graph_0 = a = None
                getitem: "f32[s97, 3]" = cond[0];  cond = None
                return (getitem,)
            class true_graph_0(torch.nn.Module):
                def forward(self, a: "f32[s97, 3]"):
                    mul: "f32[s97, 3]" = torch.ops.aten.mul.Tensor(a, 2);  a = None
                    return (mul,)
            class false_graph_0(torch.nn.Module):
                def forward(self, a: "f32[s97, 3]"):
                    div: "f32[s97, 3]" = torch.ops.aten.div.Tensor(a, 2);  a = None
                    return (div,)
        class false_graph_0(torch.nn.Module):
            def forward(self, a: "f32[s97, 3]"):
                mean: "f32[]" = torch.ops.aten.mean.default(a)
                sub: "f32[s97, 3]" = torch.ops.aten.sub.Tensor(a, mean);  a = mean = None
                relu: "f32[s97, 3]" = torch.ops.aten.relu.default(sub);  sub = None
                return (relu,)
        class while_loop_cond_graph_0(torch.nn.Module):
            def forward(self, arg0_1: "i64[]", arg1_1: "f32[s97, 3]"):
                lt: "b8[]" = torch.ops.aten.lt.Scalar(arg0_1, 5);  arg0_1 = None
                abs_1: "f32[s97, 3]" = torch.ops.aten.abs.default(arg1_1);  arg1_1 = None
                sum_1: "f32[]" = torch.ops.aten.sum.default(abs_1);  abs_1 = None
                lt_1: "b8[]" = torch.ops.aten.lt.Scalar(sum_1, 1000.0);  sum_1 = None
                and_1: "b8[]" = torch.ops.aten.__and__.Tensor(lt, lt_1);  lt = lt_1 = None
                return and_1
        class while_loop_body_graph_0(torch.nn.Module):
            def forward(self, arg0_1: "i64[]", arg1_1: "f32[s97, 3]"):
                add: "i64[]" = torch.ops.aten.add.Tensor(arg0_1, 1);  arg0_1 = None
                mul: "f32[s97, 3]" = torch.ops.aten.mul.Tensor(arg1_1, 1.5);  arg1_1 = None
                add_1: "f32[s97, 3]" = torch.ops.aten.add.Tensor(mul, 0.1);  mul = None
                return (add, add_1)
Graph signature:
    # inputs
    a: USER_INPUT
    # outputs
    getitem_1: USER_OUTPUT
    getitem_2: USER_OUTPUT
Range constraints: {s97: VR[0, int_oo]}
