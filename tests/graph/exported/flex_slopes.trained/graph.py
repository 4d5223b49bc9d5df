class GraphModule(torch.nn.Module):
    def forward(self, primals_1: "Sym(s33)", primals_2: "Sym(s50)", mul_6: "Sym(s33*s50)", view: "f32[s33*s50, 6][6, 1]cpu", t: "f32[6, 32][1, 6]cpu", view_1: "f32[s33*s50, 6][6, 1]cpu", t_1: "f32[6, 48][1, 6]cpu", transpose: "f32[s33, 4, s50, 8][32*s50, 8, 32, 1]cpu", transpose_1: "f32[s33, 2, s50, 8][48*s50, 8, 48, 1]cpu", transpose_2: "f32[s33, 2, s50, 16][48*s50, 16, 48, 1]cpu", ones: "i32[1, 1, 1][1, 1, 1]cpu", zeros: "i32[1, 1, 1, 1][1, 1, 1, 1]cpu", _to_copy: "i32[1, 1, 1][1, 1, 1]cpu", _to_copy_1: "i32[1, 1, 1, 1][1, 1, 1, 1]cpu", detach: "f32[s33, 4, s50, 16][64*s50, 16, 64, 1]cpu", detach_1: "f32[s33, 4, s50][4*s50, s50, 1]cpu", tangents_1: "f32[s33, 4, s50, 16][64*s50, 16*s50, 16, 1]cpu"):
        detach_2: "f32[s33, 4, s50, 16][64*s50, 16, 64, 1]cpu" = torch.ops.aten.detach.default(detach);  detach = None
        detach_3: "f32[s33, 4, s50][4*s50, s50, 1]cpu" = torch.ops.aten.detach.default(detach_1);  detach_1 = None
        fw_graph0 = self.fw_graph0
        joint_graph0 = self.joint_graph0
        mask_graph0 = self.mask_graph0
        flex_attention_backward = torch.ops.higher_order.flex_attention_backward(transpose, transpose_1, transpose_2, detach_2, detach_3, tangents_1, None, fw_graph0, joint_graph0, (1, 1, ones, zeros, None, None, _to_copy, _to_copy_1, None, None, None, None, None, None, 1073741824, 1073741824, mask_graph0), 0.35355339059327373, {'BACKEND': 'AUTO', 'PRESCALE_QK': False, 'ROWS_GUARANTEED_SAFE': False, 'BLOCKS_ARE_CONTIGUOUS': False, 'WRITE_DQ': True, 'OUTPUT_LOGSUMEXP': True, 'OUTPUT_MAX': False}, (), ());  transpose = transpose_1 = transpose_2 = detach_2 = detach_3 = tangents_1 = fw_graph0 = joint_graph0 = ones = zeros = _to_copy = _to_copy_1 = mask_graph0 = None
        getitem_7: "f32[s33, 4, s50, 8][32*s50, 8, 32, 1]cpu" = flex_attention_backward[0]
        getitem_8: "f32[s33, 2, s50, 8][16*s50, 8, 16, 1]cpu" = flex_attention_backward[1]
        getitem_9: "f32[s33, 2, s50, 16][32*s50, 16, 32, 1]cpu" = flex_attention_backward[2];  flex_attention_backward = None
        transpose_5: "f32[s33, s50, 2, 16][32*s50, 32, 16, 1]cpu" = torch.ops.aten.transpose.int(getitem_9, -2, -3);  getitem_9 = None
        view_6: "f32[s33, s50, 32][32*s50, 32, 1]cpu" = torch.ops.aten.view.default(transpose_5, [primals_1, primals_2, 32]);  transpose_5 = None
        transpose_6: "f32[s33, s50, 2, 8][16*s50, 16, 8, 1]cpu" = torch.ops.aten.transpose.int(getitem_8, -2, -3);  getitem_8 = None
        view_7: "f32[s33, s50, 16][16*s50, 16, 1]cpu" = torch.ops.aten.view.default(transpose_6, [primals_1, primals_2, 16]);  transpose_6 = None
        transpose_7: "f32[s33, s50, 4, 8][32*s50, 32, 8, 1]cpu" = torch.ops.aten.transpose.int(getitem_7, -2, -3);  getitem_7 = None
        view_8: "f32[s33, s50, 32][32*s50, 32, 1]cpu" = torch.ops.aten.view.default(transpose_7, [primals_1, primals_2, 32]);  transpose_7 = None
        cat: "f32[s33, s50, 48][48*s50, 48, 1]cpu" = torch.ops.aten.cat.default([view_7, view_6], 2);  view_7 = view_6 = None
        view_9: "f32[s33*s50, 48][48, 1]cpu" = torch.ops.aten.view.default(cat, [mul_6, 48]);  cat = None
        t_2: "f32[48, 6][6, 1]cpu" = torch.ops.aten.t.default(t_1);  t_1 = None
        mm: "f32[s33*s50, 6][6, 1]cpu" = torch.ops.aten.mm.default(view_9, t_2);  t_2 = None
        t_3: "f32[48, s33*s50][1, 48]cpu" = torch.ops.aten.t.default(view_9)
        mm_1: "f32[48, 6][6, 1]cpu" = torch.ops.aten.mm.default(t_3, view_1);  t_3 = view_1 = None
        t_4: "f32[6, 48][1, 6]cpu" = torch.ops.aten.t.default(mm_1);  mm_1 = None
        sum_2: "f32[1, 48][48, 1]cpu" = torch.ops.aten.sum.dim_IntList(view_9, [0], True);  view_9 = None
        view_10: "f32[48][1]cpu" = torch.ops.aten.view.default(sum_2, [48]);  sum_2 = None
        t_5: "f32[48, 6][6, 1]cpu" = torch.ops.aten.t.default(t_4);  t_4 = None
        view_11: "f32[s33, s50, 6][6*s50, 6, 1]cpu" = torch.ops.aten.view.default(mm, [primals_1, primals_2, 6]);  mm = None
        view_12: "f32[s33*s50, 32][32, 1]cpu" = torch.ops.aten.view.default(view_8, [mul_6, 32]);  view_8 = mul_6 = None
        t_6: "f32[32, 6][6, 1]cpu" = torch.ops.aten.t.default(t);  t = None
        mm_2: "f32[s33*s50, 6][6, 1]cpu" = torch.ops.aten.mm.default(view_12, t_6);  t_6 = None
        t_7: "f32[32, s33*s50][1, 32]cpu" = torch.ops.aten.t.default(view_12)
        mm_3: "f32[32, 6][6, 1]cpu" = torch.ops.aten.mm.default(t_7, view);  t_7 = view = None
        t_8: "f32[6, 32][1, 6]cpu" = torch.ops.aten.t.default(mm_3);  mm_3 = None
        sum_3: "f32[1, 32][32, 1]cpu" = torch.ops.aten.sum.dim_IntList(view_12, [0], True);  view_12 = None
        view_13: "f32[32][1]cpu" = torch.ops.aten.view.default(sum_3, [32]);  sum_3 = None
        t_9: "f32[32, 6][6, 1]cpu" = torch.ops.aten.t.default(t_8);  t_8 = None
        view_14: "f32[s33, s50, 6][6*s50, 6, 1]cpu" = torch.ops.aten.view.default(mm_2, [primals_1, primals_2, 6]);  mm_2 = primals_1 = primals_2 = None
        add: "f32[s33, s50, 6][6*s50, 6, 1]cpu" = torch.ops.aten.add.Tensor(view_11, view_14);  view_11 = view_14 = None
        return (None, None, add, t_9, view_13, t_5, view_10)
    class fw_graph0(torch.nn.Module):
        def forward(self, arg0_1: "f32[][]cpu", arg1_1: "i32[][]cpu", arg2_1: "i32[][]cpu", arg3_1: "i32[][]cpu", arg4_1: "i32[][]cpu"):
            mul: "f32[][]cpu" = torch.ops.aten.mul.Tensor(arg0_1, arg0_1)
            mul_1: "f32[][]cpu" = torch.ops.aten.mul.Tensor(mul, 0.1);  mul = None
            sub: "f32[][]cpu" = torch.ops.aten.sub.Tensor(mul_1, arg0_1);  mul_1 = arg0_1 = None
            add: "i32[][]cpu" = torch.ops.aten.add.Tensor(arg2_1, 1);  arg2_1 = None
            mul_2: "f32[][]cpu" = torch.ops.aten.mul.Tensor(add, 0.25);  add = None
            sub_1: "i32[][]cpu" = torch.ops.aten.sub.Tensor(arg4_1, arg3_1);  arg4_1 = arg3_1 = None
            mul_3: "f32[][]cpu" = torch.ops.aten.mul.Tensor(mul_2, sub_1);  mul_2 = sub_1 = None
            add_1: "f32[][]cpu" = torch.ops.aten.add.Tensor(sub, mul_3);  sub = mul_3 = None
            return add_1
    class joint_graph0(torch.nn.Module):
        def forward(self, arg0_1: "f32[][]cpu", arg1_1: "i32[][]cpu", arg2_1: "i32[][]cpu", arg3_1: "i32[][]cpu", arg4_1: "i32[][]cpu", arg5_1: "f32[][]cpu"):
            neg: "f32[][]cpu" = torch.ops.aten.neg.default(arg5_1)
            mul_4: "f32[][]cpu" = torch.ops.aten.mul.Tensor(arg5_1, 0.1);  arg5_1 = None
            mul_5: "f32[][]cpu" = torch.ops.aten.mul.Tensor(mul_4, arg0_1)
            mul_6: "f32[][]cpu" = torch.ops.aten.mul.Tensor(mul_4, arg0_1);  mul_4 = arg0_1 = None
            add_2: "f32[][]cpu" = torch.ops.aten.add.Tensor(neg, mul_6);  neg = mul_6 = None
            add_3: "f32[][]cpu" = torch.ops.aten.add.Tensor(add_2, mul_5);  add_2 = mul_5 = None
            return [add_3, None, None, None, None]
    class mask_graph0(torch.nn.Module):
        def forward(self, arg0_1: "i32[][]cpu", arg1_1: "i32[][]cpu", arg2_1: "i32[][]cpu", arg3_1: "i32[][]cpu"):
            new_ones: "b8[][]cpu" = torch.ops.aten.new_ones.default(arg0_1, [], dtype = torch.bool, device = device(type='cpu'), pin_memory = False);  arg0_1 = None
            return new_ones
