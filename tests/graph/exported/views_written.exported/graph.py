ExportedProgram:
    class GraphModule(torch.nn.Module):
        def forward(self, a: "f32[s97, 6]"):
            sym_size_int_1: "Sym(s97)" = torch.ops.aten.sym_size.int(a, 0)
            clone: "f32[s97, 6]" = torch.ops.aten.clone.default(a)
            slice_1: "f32[s97, 6]" = torch.ops.aten.slice.Tensor(clone, 0, 0, 9223372036854775807)
            slice_2: "f32[s97, 1]" = torch.ops.aten.slice.Tensor(slice_1, 1, 2, 3);  slice_1 = None
            expand: "f32[s97, 4]" = torch.ops.aten.expand.default(slice_2, [-1, 4]);  slice_2 = None
            fill_: "f32[s97, 4]" = torch.ops.aten.fill_.Scalar(expand, 2.0);  expand = fill_ = None
            as_strided: "f32[2, 2]" = torch.ops.aten.as_strided.default(clone, [2, 2], [6, 3], 1)
            mul_: "f32[2, 2]" = torch.ops.aten.mul_.Tensor(as_strided, 10);  as_strided = mul_ = None
            new_zeros: "f32[s97, 4, 4]" = torch.ops.aten.new_zeros.default(a, [sym_size_int_1, 4, 4], pin_memory = False);  sym_size_int_1 = None
            diagonal: "f32[s97, 4]" = torch.ops.aten.diagonal.default(new_zeros, 0, 1, 2)
            slice_3: "f32[s97, 6]" = torch.ops.aten.slice.Tensor(a, 0, 0, 9223372036854775807);  a = None
            slice_4: "f32[s97, 4]" = torch.ops.aten.slice.Tensor(slice_3, 1, 0, 4);  slice_3 = None
            copy_: "f32[s97, 4]" = torch.ops.aten.copy_.default(diagonal, slice_4);  diagonal = slice_4 = copy_ = None
            diagonal_1: "f32[s97, 3]" = torch.ops.aten.diagonal.default(new_zeros, 1, 1, 2)
            sub_: "f32[s97, 3]" = torch.ops.aten.sub_.Tensor(diagonal_1, 1);  diagonal_1 = sub_ = None
            unfold: "f32[s97, 2, 4, 2]" = torch.ops.aten.unfold.default(new_zeros, 1, 2, 2)
            slice_5: "f32[s97, 2, 4, 2]" = torch.ops.aten.slice.Tensor(unfold, 0, 0, 9223372036854775807);  unfold = None
            select: "f32[s97, 4, 2]" = torch.ops.aten.select.int(slice_5, 1, 0);  slice_5 = None
            add_: "f32[s97, 4, 2]" = torch.ops.aten.add_.Tensor(select, 0.5);  select = add_ = None
            return (clone, new_zeros)
Graph signature:
    # inputs
    a: USER_INPUT
    # outputs
    clone: USER_OUTPUT
    new_zeros: USER_OUTPUT
Range constraints: {s97: VR[2, int_oo]}
