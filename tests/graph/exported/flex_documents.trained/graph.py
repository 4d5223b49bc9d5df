class GraphModule(torch.nn.Module):
    def forward(self, primals_1: "Sym(s33)", primals_2: "Sym(s50)", primals_8: "Sym(s19)", mul_6: "Sym(s33*s50)", primals_9: "i64[s19][1]cpu", view: "f32[s33*s50, 6][6, 1]cpu", t: "f32[6, 32][1, 6]cpu", view_1: "f32[s33*s50, 6][6, 1]cpu", t_1: "f32[6, 48][1, 6]cpu", _to_copy_3: "i32[1, 1, ((s50 + 15)//16)][Max(1, ((s50 + 15)//16)), Max(1, ((s50 + 15)//16)), 1]cpu", _to_copy_4: "i32[1, 1, ((s50 + 15)//16), ((s50 + 15)//16)][Max(1, ((s50 + 15)//16))**2, Max(1, ((s50 + 15)//16))**2, Max(1, ((s50 + 15)//16)), 1]cpu", _to_copy_6: "i32[1, 1, ((s50 + 15)//16)][Max(1, ((s50 + 15)//16)), Max(1, ((s50 + 15)//16)), 1]cpu", _to_copy_7: "i32[1, 1, ((s50 + 15)//16), ((s50 + 15)//16)][Max(1, ((s50 + 15)//16))**2, Max(1, ((s50 + 15)//16))**2, Max(1, ((s50 + 15)//16)), 1]cpu", _to_copy_8: "i32[1, 1, ((s50 + 15)//16)][Max(1, ((s50 + 15)//16)), Max(1, ((s50 + 15)//16)), 1]cpu", _to_copy_9: "i32[1, 1, ((s50 + 15)//16), ((s50 + 15)//16)][Max(1, ((s50 + 15)//16))**2, Max(1, ((s50 + 15)//16))**2, Max(1, ((s50 + 15)//16)), 1]cpu", _to_copy_10: "i32[1, 1, ((s50 + 15)//16)][Max(1, ((s50 + 15)//16)), Max(1, ((s50 + 15)//16)), 1]cpu", _to_copy_11: "i32[1, 1, ((s50 + 15)//16), ((s50 + 15)//16)][Max(1, ((s50 + 15)//16))**2, Max(1, ((s50 + 15)//16))**2, Max(1, ((s50 + 15)//16)), 1]cpu", transpose_4: "f32[s33, 4, s50, 8][32*s50, 8, 32, 1]cpu", transpose_5: "f32[s33, 2, s50, 8][48*s50, 8, 48, 1]cpu", transpose_6: "f32[s33, 2, s50, 16][48*s50, 16, 48, 1]cpu", detach: "f32[s33, 4, s50, 16][64*s50, 16, 64, 1]cpu", detach_1: "f32[s33, 4, s50][4*s50, s50, 1]cpu", tangents_1: "f32[s33, 4, s50, 16][64*s50, 16*s50, 16, 1]cpu"):
        detach_2: "f32[s33, 4, s50, 16][64*s50, 16, 64, 1]cpu" = torch.ops.aten.detach.default(detach);  detach = None
        detach_3: "f32[s33, 4, s50][4*s50, s50, 1]cpu" = torch.ops.aten.detach.default(detach_1);  detach_1 = None
        fw_graph0 = self.fw_graph0
        joint_graph0 = self.joint_graph0
        mask_graph0 = self.mask_graph0
        flex_attention_backward = torch.ops.higher_order.flex_attention_backward(transpose_4, transpose_5, transpose_6, detach_2, detach_3, tangents_1, None, fw_graph0, joint_graph0, (primals_2, primals_2, _to_copy_3, _to_copy_4, _to_copy_6, _to_copy_7, _to_copy_8, _to_copy_9, _to_copy_10, _to_copy_11, None, None, None, None, 16, 16, mask_graph0), 0.35355339059327373, {'BACKEND': 'AUTO', 'PRESCALE_QK': False, 'ROWS_GUARANTEED_SAFE': False, 'BLOCKS_ARE_CONTIGUOUS': False, 'WRITE_DQ': True, 'OUTPUT_LOGSUMEXP': True, 'OUTPUT_MAX': False}, (), (primals_8, primals_9));  transpose_4 = transpose_5 = transpose_6 = detach_2 = detach_3 = tangents_1 = fw_graph0 = joint_graph0 = _to_copy_3 = _to_copy_4 = _to_copy_6 = _to_copy_7 = _to_copy_8 = _to_copy_9 = _to_copy_10 = _to_copy_11 = mask_graph0 = primals_8 = primals_9 = None
        getitem_13: "f32[s33, 4, s50, 8][32*s50, 8, 32, 1]cpu" = flex_attention_backward[0]
        getitem_14: "f32[s33, 2, s50, 8][16*s50, 8, 16, 1]cpu" = flex_attention_backward[1]
        getitem_15: "f32[s33, 2, s50, 16][32*s50, 16, 32, 1]cpu" = flex_attention_backward[2];  flex_attention_backward = None
        transpose_7: "f32[s33, s50, 2, 16][32*s50, 32, 16, 1]cpu" = torch.ops.aten.transpose.int(getitem_15, -2, -3);  getitem_15 = None
        view_10: "f32[s33, s50, 32][32*s50, 32, 1]cpu" = torch.ops.aten.view.default(transpose_7, [primals_1, primals_2, 32]);  transpose_7 = None
        transpose_8: "f32[s33, s50, 2, 8][16*s50, 16, 8, 1]cpu" = torch.ops.aten.transpose.int(getitem_14, -2, -3);  getitem_14 = None
        view_11: "f32[s33, s50, 16][16*s50, 16, 1]cpu" = torch.ops.aten.view.default(transpose_8, [primals_1, primals_2, 16]);  transpose_8 = None
        transpose_9: "f32[s33, s50, 4, 8][32*s50, 32, 8, 1]cpu" = torch.ops.aten.transpose.int(getitem_13, -2, -3);  getitem_13 = None
        view_12: "f32[s33, s50, 32][32*s50, 32, 1]cpu" = torch.ops.aten.view.default(transpose_9, [primals_1, primals_2, 32]);  transpose_9 = None
        cat: "f32[s33, s50, 48][48*s50, 48, 1]cpu" = torch.ops.aten.cat.default([view_11, view_10], 2);  view_11 = view_10 = None
        view_13: "f32[s33*s50, 48][48, 1]cpu" = torch.ops.aten.view.default(cat, [mul_6, 48]);  cat = None
        t_2: "f32[48, 6][6, 1]cpu" = torch.ops.aten.t.default(t_1);  t_1 = None
        mm: "f32[s33*s50, 6][6, 1]cpu" = torch.ops.aten.mm.default(view_13, t_2);  t_2 = None
        t_3: "f32[48, s33*s50][1, 48]cpu" = torch.ops.aten.t.default(view_13)
        mm_1: "f32[48, 6][6, 1]cpu" = torch.ops.aten.mm.default(t_3, view_1);  t_3 = view_1 = None
        t_4: "f32[6, 48][1, 6]cpu" = torch.ops.aten.t.default(mm_1);  mm_1 = None
        sum_6: "f32[1, 48][48, 1]cpu" = torch.ops.aten.sum.dim_IntList(view_13, [0], True);  view_13 = None
        view_14: "f32[48][1]cpu" = torch.ops.aten.view.default(sum_6, [48]);  sum_6 = None
        t_5: "f32[48, 6][6, 1]cpu" = torch.ops.aten.t.default(t_4);  t_4 = None
        view_15: "f32[s33, s50, 6][6*s50, 6, 1]cpu" = torch.ops.aten.view.default(mm, [primals_1, primals_2, 6]);  mm = None
        view_16: "f32[s33*s50, 32][32, 1]cpu" = torch.ops.aten.view.default(view_12, [mul_6, 32]);  view_12 = mul_6 = None
        t_6: "f32[32, 6][6, 1]cpu" = torch.ops.aten.t.default(t);  t = None
        mm_2: "f32[s33*s50, 6][6, 1]cpu" = torch.ops.aten.mm.default(view_16, t_6);  t_6 = None
        t_7: "f32[32, s33*s50][1, 32]cpu" = torch.ops.aten.t.default(view_16)
        mm_3: "f32[32, 6][6, 1]cpu" = torch.ops.aten.mm.default(t_7, view);  t_7 = view = None
        t_8: "f32[6, 32][1, 6]cpu" = torch.ops.aten.t.default(mm_3);  mm_3 = None
        sum_7: "f32[1, 32][32, 1]cpu" = torch.ops.aten.sum.dim_IntList(view_16, [0], True);  view_16 = None
        view_17: "f32[32][1]cpu" = torch.ops.aten.view.default(sum_7, [32]);  sum_7 = None
        t_9: "f32[32, 6][6, 1]cpu" = torch.ops.aten.t.default(t_8);  t_8 = None
        view_18: "f32[s33, s50, 6][6*s50, 6, 1]cpu" = torch.ops.aten.view.default(mm_2, [primals_1, primals_2, 6]);  mm_2 = primals_1 = primals_2 = None
        add_14: "f32[s33, s50, 6][6*s50, 6, 1]cpu" = torch.ops.aten.add.Tensor(view_15, view_18);  view_15 = view_18 = None
        return (None, None, add_14, t_9, view_17, t_5, view_14, None, None)
    class fw_graph0(torch.nn.Module):
        def forward(self, arg0_1: "f32[][]cpu", arg1_1: "i32[][]cpu", arg2_1: "i32[][]cpu", arg3_1: "i32[][]cpu", arg4_1: "i32[][]cpu"):
            return arg0_1
    class joint_graph0(torch.nn.Module):
        def forward(self, arg0_1: "f32[][]cpu", arg1_1: "i32[][]cpu", arg2_1: "i32[][]cpu", arg3_1: "i32[][]cpu", arg4_1: "i32[][]cpu", arg5_1: "f32[][]cpu"):
            return [arg5_1, None, None, None, None]
    class mask_graph0(torch.nn.Module):
        def forward(self, arg0_1: "i32[][]cpu", arg1_1: "i32[][]cpu", arg2_1: "i32[][]cpu", arg3_1: "i32[][]cpu", arg4_1: "Sym(s19)", arg5_1: "i64[s19][1]cpu"):
            index: "i64[][]cpu" = torch.ops.aten.index.Tensor(arg5_1, [arg2_1])
            index_1: "i64[][]cpu" = torch.ops.aten.index.Tensor(arg5_1, [arg3_1]);  arg5_1 = None
            eq: "b8[][]cpu" = torch.ops.aten.eq.Tensor(index, index_1);  index = index_1 = None
            ge: "b8[][]cpu" = torch.ops.aten.ge.Tensor(arg2_1, arg3_1);  arg2_1 = arg3_1 = None
            bitwise_and: "b8[][]cpu" = torch.ops.aten.bitwise_and.Tensor(eq, ge);  eq = ge = None
            return bitwise_and
