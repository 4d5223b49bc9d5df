class GraphModule(torch.nn.Module):
    def forward(self, primals_1: "Sym(s77)", primals_2: "Sym(s27)", sym_size_int: "Sym(s27 + 3)", mul_4: "Sym(s27*s77)", primals_4: "f32[6, 1, 4][4, 4, 1]cpu", primals_8: "f32[6, 4][4, 1]cpu", transpose: "f32[s77, 6, s27][6*s27, 1, 6]cpu", transpose_1: "f32[s77, s27, 6][6*s27 + 18, 1, s27 + 3]cpu", silu: "f32[s77, s27, 6][6*s27, 1, s27]cpu", t: "f32[6, 14][1, 6]cpu", _unsafe_view: "f32[s27*s77, 6][6, 1]cpu", getitem: "f32[s77, s27, 6][14*s27, 14, 1]cpu", softplus: "f32[s77, s27, 6][6*s27, 6, 1]cpu", neg: "f32[s77, s27, 6, 1][6*s27, 6, 1, 1]cpu", unsqueeze_1: "f32[s77, s27, 6, 1][6*s27, 6, 1, 1]cpu", unsqueeze_2: "f32[s77, s27, 1, 4][14*s27, 14, 4, 1]cpu", sub: "f32[s77, s27, s27, 6, 4][24*s27**2, 24*s27, 24, 4, 1]cpu", detach: "f32[s77, s27, s27, 6, 4][24*s27**2, 24*s27, 24, 4, 1]cpu", bitwise_not: "b8[1, s27, s27, 1, 1][s27**2, s27, 1, 1, 1]cpu", masked_fill: "f32[s77, s27, s27, 6, 4][24*s27**2, 24*s27, 24, 4, 1]cpu", unsqueeze_8: "f32[s77, 1, s27, 6, 4][24*s27, 24*s27, 24, 4, 1]cpu", sum_1: "f32[s77, s27, 6, 4][24*s27, 24, 4, 1]cpu", unsqueeze_9: "f32[s77, s27, 1, 4][14*s27, 14, 4, 1]cpu", tangents_1: "f32[s77, s27, 6][6*s27, 6, 1]cpu"):
        unsqueeze_10: "f32[s77, s27, 6, 1][6*s27, 6, 1, 1]cpu" = torch.ops.aten.unsqueeze.default(tangents_1, -1)
        expand: "f32[s77, s27, 6, 4][6*s27, 6, 1, 0]cpu" = torch.ops.aten.expand.default(unsqueeze_10, [primals_1, primals_2, 6, 4]);  unsqueeze_10 = None
        mul_29: "f32[s77, s27, 6, 4][24*s27, 24, 4, 1]cpu" = torch.ops.aten.mul.Tensor(expand, sum_1);  sum_1 = None
        mul_30: "f32[s77, s27, 6, 4][24*s27, 24, 4, 1]cpu" = torch.ops.aten.mul.Tensor(expand, unsqueeze_9);  expand = unsqueeze_9 = None
        sum_3: "f32[s77, s27, 1, 4][4*s27, 4, 4, 1]cpu" = torch.ops.aten.sum.dim_IntList(mul_29, [2], True);  mul_29 = None
        squeeze: "f32[s77, s27, 4][4*s27, 4, 1]cpu" = torch.ops.aten.squeeze.dim(sum_3, 2);  sum_3 = None
        slice_backward: "f32[s77, s27, 4][4*s27, 4, 1]cpu" = torch.ops.aten.slice_backward.default(squeeze, [primals_1, primals_2, 4], 1, 0, 9223372036854775807, 1);  squeeze = None
        unsqueeze_11: "f32[s77, s27, 1, 6, 4][24*s27, 24, 24, 4, 1]cpu" = torch.ops.aten.unsqueeze.default(mul_30, 2);  mul_30 = None
        expand_1: "f32[s77, s27, s27, 6, 4][24*s27, 24, 0, 4, 1]cpu" = torch.ops.aten.expand.default(unsqueeze_11, [primals_1, primals_2, primals_2, 6, 4]);  unsqueeze_11 = None
        mul_31: "f32[s77, s27, s27, 6, 4][24*s27**2, 24*s27, 24, 4, 1]cpu" = torch.ops.aten.mul.Tensor(expand_1, masked_fill);  masked_fill = None
        mul_32: "f32[s77, s27, s27, 6, 4][24*s27**2, 24*s27, 24, 4, 1]cpu" = torch.ops.aten.mul.Tensor(expand_1, unsqueeze_8);  expand_1 = unsqueeze_8 = None
        sum_4: "f32[s77, 1, s27, 6, 4][24*s27, 24*s27, 24, 4, 1]cpu" = torch.ops.aten.sum.dim_IntList(mul_31, [1], True);  mul_31 = None
        squeeze_1: "f32[s77, s27, 6, 4][24*s27, 24, 4, 1]cpu" = torch.ops.aten.squeeze.dim(sum_4, 1);  sum_4 = None
        masked_fill_1: "f32[s77, s27, s27, 6, 4][24*s27**2, 24*s27, 24, 4, 1]cpu" = torch.ops.aten.masked_fill.Scalar(mul_32, bitwise_not, 0);  mul_32 = bitwise_not = None
        detach_1: "f32[s77, s27, s27, 6, 4][24*s27**2, 24*s27, 24, 4, 1]cpu" = torch.ops.aten.detach.default(detach);  detach = None
        mul_33: "f32[s77, s27, s27, 6, 4][24*s27**2, 24*s27, 24, 4, 1]cpu" = torch.ops.aten.mul.Tensor(masked_fill_1, detach_1);  masked_fill_1 = detach_1 = None
        scalar_tensor: "f32[][]cpu" = torch.ops.aten.scalar_tensor.default(0.0, dtype = torch.float32, layout = torch.strided, device = device(type='cpu'))
        lt_6: "b8[s77, s27, s27, 6, 4][24*s27**2, 24*s27, 24, 4, 1]cpu" = torch.ops.aten.lt.Scalar(sub, 0);  sub = None
        where: "f32[s77, s27, s27, 6, 4][24*s27**2, 24*s27, 24, 4, 1]cpu" = torch.ops.aten.where.self(lt_6, mul_33, scalar_tensor);  lt_6 = mul_33 = scalar_tensor = None
        neg_1: "f32[s77, s27, s27, 6, 4][24*s27**2, 24*s27, 24, 4, 1]cpu" = torch.ops.aten.neg.default(where)
        sum_5: "f32[s77, s27, 1, 6, 4][24*s27, 24, 24, 4, 1]cpu" = torch.ops.aten.sum.dim_IntList(where, [2], True);  where = None
        sum_6: "f32[s77, 1, s27, 6, 4][24*s27, 24*s27, 24, 4, 1]cpu" = torch.ops.aten.sum.dim_IntList(neg_1, [1], True);  neg_1 = None
        squeeze_2: "f32[s77, s27, 6, 4][24*s27, 24, 4, 1]cpu" = torch.ops.aten.squeeze.dim(sum_6, 1);  sum_6 = None
        squeeze_3: "f32[s77, s27, 6, 4][24*s27, 24, 4, 1]cpu" = torch.ops.aten.squeeze.dim(sum_5, 2);  sum_5 = None
        slice_backward_1: "f32[s77, s27, 6, 4][24*s27, 24, 4, 1]cpu" = torch.ops.aten.slice_backward.default(squeeze_3, [primals_1, primals_2, 6, 4], 1, 0, 9223372036854775807, 1);  squeeze_3 = None
        add_2: "f32[s77, s27, 6, 4][24*s27, 24, 4, 1]cpu" = torch.ops.aten.add.Tensor(squeeze_2, slice_backward_1);  squeeze_2 = slice_backward_1 = None
        flip: "f32[s77, s27, 6, 4][24*s27, 24, 4, 1]cpu" = torch.ops.aten.flip.default(add_2, [1]);  add_2 = None
        cumsum_1: "f32[s77, s27, 6, 4][24*s27, 24, 4, 1]cpu" = torch.ops.aten.cumsum.default(flip, 1);  flip = None
        flip_1: "f32[s77, s27, 6, 4][24*s27, 24, 4, 1]cpu" = torch.ops.aten.flip.default(cumsum_1, [1]);  cumsum_1 = None
        mul_34: "f32[s77, s27, 6, 4][24*s27, 24, 4, 1]cpu" = torch.ops.aten.mul.Tensor(squeeze_1, unsqueeze_1);  unsqueeze_1 = None
        mul_35: "f32[s77, s27, 6, 4][24*s27, 24, 4, 1]cpu" = torch.ops.aten.mul.Tensor(squeeze_1, unsqueeze_2);  squeeze_1 = unsqueeze_2 = None
        sum_7: "f32[s77, s27, 6, 1][6*s27, 6, 1, 1]cpu" = torch.ops.aten.sum.dim_IntList(mul_35, [3], True);  mul_35 = None
        sum_8: "f32[s77, s27, 1, 4][4*s27, 4, 4, 1]cpu" = torch.ops.aten.sum.dim_IntList(mul_34, [2], True);  mul_34 = None
        squeeze_4: "f32[s77, s27, 4][4*s27, 4, 1]cpu" = torch.ops.aten.squeeze.dim(sum_8, 2);  sum_8 = None
        slice_backward_2: "f32[s77, s27, 4][4*s27, 4, 1]cpu" = torch.ops.aten.slice_backward.default(squeeze_4, [primals_1, primals_2, 4], 1, 0, 9223372036854775807, 1);  squeeze_4 = None
        squeeze_5: "f32[s77, s27, 6][6*s27, 6, 1]cpu" = torch.ops.aten.squeeze.dim(sum_7, 3);  sum_7 = None
        mul_36: "f32[s77, s27, 6][6*s27, 6, 1]cpu" = torch.ops.aten.mul.Tensor(squeeze_5, softplus);  softplus = None
        mul_37: "f32[s77, s27, 6][6*s27, 6, 1]cpu" = torch.ops.aten.mul.Tensor(squeeze_5, silu);  squeeze_5 = silu = None
        add_3: "f32[s77, s27, 6][6*s27, 6, 1]cpu" = torch.ops.aten.add.Tensor(tangents_1, mul_36);  tangents_1 = mul_36 = None
        mul_38: "f32[s77, s27, 6, 4][24*s27, 24, 4, 1]cpu" = torch.ops.aten.mul.Tensor(flip_1, neg);  neg = None
        mul_39: "f32[s77, s27, 6, 4][24*s27, 24, 4, 1]cpu" = torch.ops.aten.mul.Tensor(flip_1, primals_8);  flip_1 = primals_8 = None
        sum_9: "f32[s77, s27, 6, 1][6*s27, 6, 1, 1]cpu" = torch.ops.aten.sum.dim_IntList(mul_39, [3], True);  mul_39 = None
        sum_10: "f32[1, 1, 6, 4][24, 24, 4, 1]cpu" = torch.ops.aten.sum.dim_IntList(mul_38, [0, 1], True);  mul_38 = None
        view: "f32[6, 4][4, 1]cpu" = torch.ops.aten.view.default(sum_10, [6, 4]);  sum_10 = None
        neg_2: "f32[s77, s27, 6, 1][6*s27, 6, 1, 1]cpu" = torch.ops.aten.neg.default(sum_9);  sum_9 = None
        squeeze_6: "f32[s77, s27, 6][6*s27, 6, 1]cpu" = torch.ops.aten.squeeze.dim(neg_2, 3);  neg_2 = None
        add_4: "f32[s77, s27, 6][6*s27, 6, 1]cpu" = torch.ops.aten.add.Tensor(mul_37, squeeze_6);  mul_37 = squeeze_6 = None
        softplus_backward: "f32[s77, s27, 6][6*s27, 6, 1]cpu" = torch.ops.aten.softplus_backward.default(add_4, getitem, 1, 20);  add_4 = getitem = None
        cat: "f32[s77, s27, 14][14*s27, 14, 1]cpu" = torch.ops.aten.cat.default([softplus_backward, slice_backward_2, slice_backward], 2);  softplus_backward = slice_backward_2 = slice_backward = None
        sum_11: "f32[1, 1, 14][14, 14, 1]cpu" = torch.ops.aten.sum.dim_IntList(cat, [0, 1], True)
        view_1: "f32[14][1]cpu" = torch.ops.aten.view.default(sum_11, [14]);  sum_11 = None
        view_2: "f32[s27*s77, 14][14, 1]cpu" = torch.ops.aten.view.default(cat, [mul_4, 14]);  cat = mul_4 = None
        t_1: "f32[14, s27*s77][1, 14]cpu" = torch.ops.aten.t.default(view_2)
        mm_1: "f32[14, 6][6, 1]cpu" = torch.ops.aten.mm.default(t_1, _unsafe_view);  t_1 = _unsafe_view = None
        t_2: "f32[6, 14][1, 6]cpu" = torch.ops.aten.t.default(mm_1);  mm_1 = None
        t_3: "f32[14, 6][6, 1]cpu" = torch.ops.aten.t.default(t);  t = None
        mm_2: "f32[s27*s77, 6][6, 1]cpu" = torch.ops.aten.mm.default(view_2, t_3);  view_2 = t_3 = None
        view_3: "f32[s77, s27, 6][6*s27, 6, 1]cpu" = torch.ops.aten.view.default(mm_2, [primals_1, primals_2, 6]);  mm_2 = None
        add_5: "f32[s77, s27, 6][6*s27, 6, 1]cpu" = torch.ops.aten.add.Tensor(add_3, view_3);  add_3 = view_3 = None
        t_4: "f32[14, 6][6, 1]cpu" = torch.ops.aten.t.default(t_2);  t_2 = None
        silu_backward: "f32[s77, s27, 6][6*s27, 6, 1]cpu" = torch.ops.aten.silu_backward.default(add_5, transpose_1);  add_5 = transpose_1 = None
        transpose_2: "f32[s77, 6, s27][6*s27, 1, 6]cpu" = torch.ops.aten.transpose.int(silu_backward, 1, 2);  silu_backward = None
        slice_backward_3: "f32[s77, 6, s27 + 3][6*s27 + 18, s27 + 3, 1]cpu" = torch.ops.aten.slice_backward.default(transpose_2, [primals_1, 6, sym_size_int], 2, 0, primals_2, 1);  transpose_2 = primals_1 = sym_size_int = primals_2 = None
        convolution_backward = torch.ops.aten.convolution_backward.default(slice_backward_3, transpose, primals_4, [6], [1], [3], [1], False, [0], 6, [True, True, True]);  slice_backward_3 = transpose = primals_4 = None
        getitem_3: "f32[s77, 6, s27][6*s27, s27, 1]cpu" = convolution_backward[0]
        getitem_4: "f32[6, 1, 4][4, 4, 1]cpu" = convolution_backward[1]
        getitem_5: "f32[6][1]cpu" = convolution_backward[2];  convolution_backward = None
        transpose_3: "f32[s77, s27, 6][6*s27, 1, s27]cpu" = torch.ops.aten.transpose.int(getitem_3, 1, 2);  getitem_3 = None
        return (None, None, transpose_3, getitem_4, getitem_5, t_4, view_1, view)
