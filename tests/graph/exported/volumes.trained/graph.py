class GraphModule(torch.nn.Module):
    def forward(self, primals_1: "Sym(s81)", primals_4: "Sym(s87)", primals_5: "Sym(s35)", mul_2: "Sym(27*s81)", primals_6: "f32[3, s81, 3, s87, s35][3*s35*s81*s87, 3*s35*s87, s35*s87, s35, 1]cpu", t: "f32[4, 3][1, 4]cpu", view: "f32[27*s81, 4][4, 1]cpu", _unsafe_view: "f32[3, s81, 3, 3, 3][27*s81, 27, 9, 3, 1]cpu", select: "f32[3, s81, s87, s35][3*s35*s81*s87, 3*s35*s87, s35, 1]cpu", slice_3: "f32[3, 3, 3, 2][27*s81, 9, 3, 1]cpu", mul_20: "f32[3, 3, 3, 2][18, 6, 2, 1]cpu", tangents_1: "f32[3, s81, s81, 3, 3][9*s81**2, 9*s81, 9, 3, 1]cpu", tangents_2: "f32[3, s81, 3, 3][9*s81, 9, 3, 1]cpu", tangents_3: "f32[3, s81, 3, 3][9*s81, 9, 3, 1]cpu"):
        grid_sampler_2d_backward = torch.ops.aten.grid_sampler_2d_backward.default(tangents_3, select, mul_20, 0, 1, False, [True, True]);  tangents_3 = mul_20 = None
        getitem: "f32[3, s81, s87, s35][s35*s81*s87, s35*s87, s35, 1]cpu" = grid_sampler_2d_backward[0]
        getitem_1: "f32[3, 3, 3, 2][18, 6, 2, 1]cpu" = grid_sampler_2d_backward[1];  grid_sampler_2d_backward = None
        mul_21: "f32[3, 3, 3, 2][18, 6, 2, 1]cpu" = torch.ops.aten.mul.Tensor(getitem_1, 1.5);  getitem_1 = None
        grid_sampler_2d_backward_1 = torch.ops.aten.grid_sampler_2d_backward.default(tangents_2, select, slice_3, 0, 2, True, [True, True]);  tangents_2 = select = slice_3 = None
        getitem_2: "f32[3, s81, s87, s35][s35*s81*s87, s35*s87, s35, 1]cpu" = grid_sampler_2d_backward_1[0]
        getitem_3: "f32[3, 3, 3, 2][18, 6, 2, 1]cpu" = grid_sampler_2d_backward_1[1];  grid_sampler_2d_backward_1 = None
        add: "f32[3, s81, s87, s35][s35*s81*s87, s35*s87, s35, 1]cpu" = torch.ops.aten.add.Tensor(getitem, getitem_2);  getitem = getitem_2 = None
        add_1: "f32[3, 3, 3, 2][18, 6, 2, 1]cpu" = torch.ops.aten.add.Tensor(mul_21, getitem_3);  mul_21 = getitem_3 = None
        slice_backward: "f32[3, 3, 3, 3][27, 9, 3, 1]cpu" = torch.ops.aten.slice_backward.default(add_1, [3, 3, 3, 3], 3, 0, 2, 1);  add_1 = None
        select_backward: "f32[3, s81, 3, 3, 3][27*s81, 27, 9, 3, 1]cpu" = torch.ops.aten.select_backward.default(slice_backward, [3, primals_1, 3, 3, 3], 1, 0);  slice_backward = None
        select_backward_1: "f32[3, s81, 3, s87, s35][3*s35*s81*s87, 3*s35*s87, s35*s87, s35, 1]cpu" = torch.ops.aten.select_backward.default(add, [3, primals_1, 3, primals_4, primals_5], 2, 0);  add = None
        slice_backward_1: "f32[3, s81, 3, s87, s35][3*s35*s81*s87, 3*s35*s87, s35*s87, s35, 1]cpu" = torch.ops.aten.slice_backward.default(select_backward_1, [3, primals_1, 3, primals_4, primals_5], 1, 0, 9223372036854775807, 1);  select_backward_1 = primals_4 = primals_5 = None
        grid_sampler_3d_backward = torch.ops.aten.grid_sampler_3d_backward.default(tangents_1, primals_6, _unsafe_view, 0, 0, False, [True, True]);  tangents_1 = primals_6 = _unsafe_view = None
        getitem_4: "f32[3, s81, 3, s87, s35][3*s35*s81*s87, 3*s35*s87, s35*s87, s35, 1]cpu" = grid_sampler_3d_backward[0]
        getitem_5: "f32[3, s81, 3, 3, 3][27*s81, 27, 9, 3, 1]cpu" = grid_sampler_3d_backward[1];  grid_sampler_3d_backward = None
        add_2: "f32[3, s81, 3, s87, s35][3*s35*s81*s87, 3*s35*s87, s35*s87, s35, 1]cpu" = torch.ops.aten.add.Tensor(slice_backward_1, getitem_4);  slice_backward_1 = getitem_4 = None
        view_1: "f32[27*s81, 3][3, 1]cpu" = torch.ops.aten.view.default(getitem_5, [mul_2, 3]);  getitem_5 = mul_2 = None
        t_1: "f32[3, 27*s81][1, 3]cpu" = torch.ops.aten.t.default(view_1)
        mm_1: "f32[3, 4][4, 1]cpu" = torch.ops.aten.mm.default(t_1, view);  t_1 = view = None
        t_2: "f32[4, 3][1, 4]cpu" = torch.ops.aten.t.default(mm_1);  mm_1 = None
        t_3: "f32[3, 4][4, 1]cpu" = torch.ops.aten.t.default(t);  t = None
        mm_2: "f32[27*s81, 4][4, 1]cpu" = torch.ops.aten.mm.default(view_1, t_3);  view_1 = t_3 = None
        view_2: "f32[3, s81, 3, 3, 4][36*s81, 36, 12, 4, 1]cpu" = torch.ops.aten.view.default(mm_2, [3, primals_1, 3, 3, 4]);  mm_2 = primals_1 = None
        t_4: "f32[3, 4][4, 1]cpu" = torch.ops.aten.t.default(t_2);  t_2 = None
        slice_4: "f32[3, s81, 3, 3, 3][36*s81, 36, 12, 4, 1]cpu" = torch.ops.aten.slice.Tensor(view_2, 4, 0, 3);  view_2 = None
        add_3: "f32[3, s81, 3, 3, 3][27*s81, 27, 9, 3, 1]cpu" = torch.ops.aten.add.Tensor(select_backward, slice_4);  select_backward = slice_4 = None
        return (None, add_3, t_4, None, None, add_2)
