class <lambda>(torch.nn.Module):
    def forward(self, arg0_1: "f32[4, 8][8, 1]cpu", arg1_1: "Sym(s77)", arg2_1: "f32[s77, 8][8, 1]cpu", arg3_1: "f32[4, 8, 12][96, 12, 1]cpu", arg4_1: "f32[4, 12, 8][96, 8, 1]cpu"):
        t: "f32[8, 4][1, 8]cpu" = torch.ops.aten.t.default(arg0_1);  arg0_1 = None
        mm: "f32[s77, 4][4, 1]cpu" = torch.ops.aten.mm.default(arg2_1, t);  t = None
        _softmax: "f32[s77, 4][4, 1]cpu" = torch.ops.aten._softmax.default(mm, -1, False);  mm = None
        topk = torch.ops.aten.topk.default(_softmax, 2);  _softmax = None
        getitem: "f32[s77, 2][2, 1]cpu" = topk[0]
        getitem_1: "i64[s77, 2][2, 1]cpu" = topk[1];  topk = None
        sum_1: "f32[s77, 1][1, 1]cpu" = torch.ops.aten.sum.dim_IntList(getitem, [-1], True)
        div: "f32[s77, 2][2, 1]cpu" = torch.ops.aten.div.Tensor(getitem, sum_1);  getitem = sum_1 = None
        index: "f32[s77, 2, 8, 12][192, 96, 12, 1]cpu" = torch.ops.aten.index.Tensor(arg3_1, [getitem_1]);  arg3_1 = None
        unsqueeze: "f32[s77, 8, 1][8, 1, 1]cpu" = torch.ops.aten.unsqueeze.default(arg2_1, 2);  arg2_1 = None
        unsqueeze_1: "f32[s77, 8, 1, 1][8, 1, 1, 1]cpu" = torch.ops.aten.unsqueeze.default(unsqueeze, 3);  unsqueeze = None
        permute: "f32[s77, 1, 1, 8][8, 1, 1, 1]cpu" = torch.ops.aten.permute.default(unsqueeze_1, [0, 2, 3, 1]);  unsqueeze_1 = None
        permute_1: "f32[s77, 2, 12, 8][192, 96, 1, 12]cpu" = torch.ops.aten.permute.default(index, [0, 1, 3, 2]);  index = None
        permute_2: "f32[s77, 8, 1, 1][8, 1, 1, 1]cpu" = torch.ops.aten.permute.default(permute, [0, 3, 1, 2]);  permute = None
        view: "f32[s77, 1, 8][8, 8, 1]cpu" = torch.ops.aten.view.default(permute_2, [arg1_1, 1, 8]);  permute_2 = None
        permute_3: "f32[s77, 8, 2, 12][192, 12, 96, 1]cpu" = torch.ops.aten.permute.default(permute_1, [0, 3, 1, 2]);  permute_1 = None
        clone: "f32[s77, 8, 2, 12][192, 24, 12, 1]cpu" = torch.ops.aten.clone.default(permute_3, memory_format = torch.contiguous_format);  permute_3 = None
        _unsafe_view: "f32[s77, 8, 24][192, 24, 1]cpu" = torch.ops.aten._unsafe_view.default(clone, [arg1_1, 8, 24]);  clone = None
        bmm: "f32[s77, 1, 24][24, 24, 1]cpu" = torch.ops.aten.bmm.default(view, _unsafe_view);  view = _unsafe_view = None
        view_1: "f32[s77, 1, 2, 12][24, 24, 12, 1]cpu" = torch.ops.aten.view.default(bmm, [arg1_1, 1, 2, 12]);  bmm = None
        permute_4: "f32[s77, 2, 12, 1][24, 12, 1, 24]cpu" = torch.ops.aten.permute.default(view_1, [0, 2, 3, 1]);  view_1 = None
        view_2: "f32[s77, 2, 12][24, 12, 1]cpu" = torch.ops.aten.view.default(permute_4, [arg1_1, 2, 12]);  permute_4 = None
        gelu: "f32[s77, 2, 12][24, 12, 1]cpu" = torch.ops.aten.gelu.default(view_2);  view_2 = None
        index_1: "f32[s77, 2, 12, 8][192, 96, 8, 1]cpu" = torch.ops.aten.index.Tensor(arg4_1, [getitem_1]);  arg4_1 = None
        unsqueeze_2: "f32[s77, 2, 12, 1][24, 12, 1, 1]cpu" = torch.ops.aten.unsqueeze.default(gelu, 3);  gelu = None
        permute_5: "f32[s77, 2, 1, 12][24, 12, 1, 1]cpu" = torch.ops.aten.permute.default(unsqueeze_2, [0, 1, 3, 2]);  unsqueeze_2 = None
        permute_6: "f32[s77, 2, 8, 12][192, 96, 1, 8]cpu" = torch.ops.aten.permute.default(index_1, [0, 1, 3, 2]);  index_1 = None
        mul_22: "Sym(2*s77)" = arg1_1 * 2
        permute_7: "f32[s77, 2, 12, 1][24, 12, 1, 1]cpu" = torch.ops.aten.permute.default(permute_5, [0, 1, 3, 2]);  permute_5 = None
        view_3: "f32[2*s77, 1, 12][12, 12, 1]cpu" = torch.ops.aten.view.default(permute_7, [mul_22, 1, 12]);  permute_7 = None
        permute_8: "f32[s77, 2, 12, 8][192, 96, 8, 1]cpu" = torch.ops.aten.permute.default(permute_6, [0, 1, 3, 2]);  permute_6 = None
        view_4: "f32[2*s77, 12, 8][96, 8, 1]cpu" = torch.ops.aten.view.default(permute_8, [mul_22, 12, 8]);  permute_8 = mul_22 = None
        bmm_1: "f32[2*s77, 1, 8][8, 8, 1]cpu" = torch.ops.aten.bmm.default(view_3, view_4);  view_3 = view_4 = None
        view_5: "f32[s77, 2, 1, 8][16, 8, 8, 1]cpu" = torch.ops.aten.view.default(bmm_1, [arg1_1, 2, 1, 8]);  bmm_1 = None
        permute_9: "f32[s77, 2, 8, 1][16, 8, 1, 8]cpu" = torch.ops.aten.permute.default(view_5, [0, 1, 3, 2]);  view_5 = None
        view_6: "f32[s77, 2, 8][16, 8, 1]cpu" = torch.ops.aten.view.default(permute_9, [arg1_1, 2, 8]);  permute_9 = arg1_1 = None
        ge: "b8[s77, 2][2, 1]cpu" = torch.ops.aten.ge.Scalar(getitem_1, 0)
        all_1: "b8[][]cpu" = torch.ops.aten.all.default(ge);  ge = None
        _assert_async = torch.ops.aten._assert_async.msg(all_1, 'one_hot: Class values must be non-negative.');  all_1 = _assert_async = None
        lt_3: "b8[s77, 2][2, 1]cpu" = torch.ops.aten.lt.Scalar(getitem_1, 4)
        all_2: "b8[][]cpu" = torch.ops.aten.all.default(lt_3);  lt_3 = None
        _assert_async_1 = torch.ops.aten._assert_async.msg(all_2, 'one_hot: Class values must be smaller than num_classes.');  all_2 = _assert_async_1 = None
        unsqueeze_3: "i64[s77, 2, 1][2, 1, 1]cpu" = torch.ops.aten.unsqueeze.default(getitem_1, -1);  getitem_1 = None
        arange: "i64[4][1]cpu" = torch.ops.aten.arange.default(4, dtype = torch.int64, device = device(type='cpu'), pin_memory = False)
        eq_24: "b8[s77, 2, 4][8, 4, 1]cpu" = torch.ops.aten.eq.Tensor(unsqueeze_3, arange);  unsqueeze_3 = arange = None
        _to_copy: "i64[s77, 2, 4][8, 4, 1]cpu" = torch.ops.aten._to_copy.default(eq_24, dtype = torch.int64);  eq_24 = None
        sum_2: "i64[4][1]cpu" = torch.ops.aten.sum.dim_IntList(_to_copy, [0, 1]);  _to_copy = None
        unsqueeze_4: "f32[s77, 2, 1][2, 1, 1]cpu" = torch.ops.aten.unsqueeze.default(div, 2);  div = None
        mul_32: "f32[s77, 2, 8][16, 8, 1]cpu" = torch.ops.aten.mul.Tensor(view_6, unsqueeze_4);  view_6 = unsqueeze_4 = None
        sum_3: "f32[s77, 8][8, 1]cpu" = torch.ops.aten.sum.dim_IntList(mul_32, [1]);  mul_32 = None
        return (sum_3, sum_2)
