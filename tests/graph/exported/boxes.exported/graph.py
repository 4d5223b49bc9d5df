ExportedProgram:
    class GraphModule(torch.nn.Module):
        def forward(self, a: "f32[s52, 10, 3]", b: "f32[s52, 10, 4]", c: "f32[10, 4]"):
            sigmoid: "f32[s52, 10, 3]" = torch.ops.aten.sigmoid.default(a);  a = None
            max_1 = torch.ops.aten.max.dim(sigmoid, -1);  sigmoid = None
            getitem: "f32[s52, 10]" = max_1[0]
            getitem_1: "i64[s52, 10]" = max_1[1];  max_1 = None
            topk = torch.ops.aten.topk.default(getitem, 4, 1);  getitem = None
            getitem_2: "f32[s52, 4]" = topk[0]
            getitem_3: "i64[s52, 4]" = topk[1];  topk = None
            unsqueeze: "i64[s52, 4, 1]" = torch.ops.aten.unsqueeze.default(getitem_3, 2)
            expand: "i64[s52, 4, 4]" = torch.ops.aten.expand.default(unsqueeze, [-1, -1, 4]);  unsqueeze = None
            gather: "f32[s52, 4, 4]" = torch.ops.aten.gather.default(b, 1, expand);  b = expand = None
            index: "f32[s52, 4, 4]" = torch.ops.aten.index.Tensor(c, [getitem_3]);  c = None
            slice_1: "f32[s52, 4, 2]" = torch.ops.aten.slice.Tensor(index, 2, 2, 9223372036854775807)
            slice_2: "f32[s52, 4, 2]" = torch.ops.aten.slice.Tensor(index, 2, 0, 2)
            sub: "f32[s52, 4, 2]" = torch.ops.aten.sub.Tensor(slice_1, slice_2);  slice_1 = slice_2 = None
            slice_3: "f32[s52, 4, 2]" = torch.ops.aten.slice.Tensor(index, 2, 0, 2);  index = None
            mul: "f32[s52, 4, 2]" = torch.ops.aten.mul.Tensor(sub, 0.5)
            add: "f32[s52, 4, 2]" = torch.ops.aten.add.Tensor(slice_3, mul);  slice_3 = mul = None
            slice_4: "f32[s52, 4, 2]" = torch.ops.aten.slice.Tensor(gather, 2, 0, 2)
            mul_1: "f32[s52, 4, 2]" = torch.ops.aten.mul.Tensor(slice_4, sub);  slice_4 = None
            add_1: "f32[s52, 4, 2]" = torch.ops.aten.add.Tensor(add, mul_1);  add = mul_1 = None
            mul_2: "f32[s52, 4, 2]" = torch.ops.aten.mul.Tensor(sub, 0.5);  sub = None
            slice_5: "f32[s52, 4, 2]" = torch.ops.aten.slice.Tensor(gather, 2, 2, 9223372036854775807);  gather = None
            clamp: "f32[s52, 4, 2]" = torch.ops.aten.clamp.default(slice_5, None, 4.0);  slice_5 = None
            exp: "f32[s52, 4, 2]" = torch.ops.aten.exp.default(clamp);  clamp = None
            mul_3: "f32[s52, 4, 2]" = torch.ops.aten.mul.Tensor(mul_2, exp);  mul_2 = exp = None
            sub_1: "f32[s52, 4, 2]" = torch.ops.aten.sub.Tensor(add_1, mul_3)
            add_2: "f32[s52, 4, 2]" = torch.ops.aten.add.Tensor(add_1, mul_3);  add_1 = mul_3 = None
            cat: "f32[s52, 4, 4]" = torch.ops.aten.cat.default([sub_1, add_2], -1);  sub_1 = add_2 = None
            clamp_1: "f32[s52, 4, 4]" = torch.ops.aten.clamp.default(cat, 0, 1);  cat = None
            select: "f32[s52, 4]" = torch.ops.aten.select.int(clamp_1, 2, 2)
            select_1: "f32[s52, 4]" = torch.ops.aten.select.int(clamp_1, 2, 0)
            sub_2: "f32[s52, 4]" = torch.ops.aten.sub.Tensor(select, select_1);  select = select_1 = None
            select_2: "f32[s52, 4]" = torch.ops.aten.select.int(clamp_1, 2, 3)
            select_3: "f32[s52, 4]" = torch.ops.aten.select.int(clamp_1, 2, 1)
            sub_3: "f32[s52, 4]" = torch.ops.aten.sub.Tensor(select_2, select_3);  select_2 = select_3 = None
            mul_4: "f32[s52, 4]" = torch.ops.aten.mul.Tensor(sub_2, sub_3);  sub_2 = sub_3 = None
            slice_6: "f32[s52, 4, 4]" = torch.ops.aten.slice.Tensor(clamp_1, 0, 0, 9223372036854775807)
            unsqueeze_1: "f32[s52, 4, 1, 4]" = torch.ops.aten.unsqueeze.default(slice_6, 2);  slice_6 = None
            slice_7: "f32[s52, 4, 1, 2]" = torch.ops.aten.slice.Tensor(unsqueeze_1, 3, 0, 2);  unsqueeze_1 = None
            slice_8: "f32[s52, 4, 4]" = torch.ops.aten.slice.Tensor(clamp_1, 0, 0, 9223372036854775807)
            unsqueeze_2: "f32[s52, 1, 4, 4]" = torch.ops.aten.unsqueeze.default(slice_8, 1);  slice_8 = None
            slice_9: "f32[s52, 1, 4, 2]" = torch.ops.aten.slice.Tensor(unsqueeze_2, 3, 0, 2);  unsqueeze_2 = None
            maximum: "f32[s52, 4, 4, 2]" = torch.ops.aten.maximum.default(slice_7, slice_9);  slice_7 = slice_9 = None
            slice_10: "f32[s52, 4, 4]" = torch.ops.aten.slice.Tensor(clamp_1, 0, 0, 9223372036854775807)
            unsqueeze_3: "f32[s52, 4, 1, 4]" = torch.ops.aten.unsqueeze.default(slice_10, 2);  slice_10 = None
            slice_11: "f32[s52, 4, 1, 2]" = torch.ops.aten.slice.Tensor(unsqueeze_3, 3, 2, 9223372036854775807);  unsqueeze_3 = None
            slice_12: "f32[s52, 4, 4]" = torch.ops.aten.slice.Tensor(clamp_1, 0, 0, 9223372036854775807)
            unsqueeze_4: "f32[s52, 1, 4, 4]" = torch.ops.aten.unsqueeze.default(slice_12, 1);  slice_12 = None
            slice_13: "f32[s52, 1, 4, 2]" = torch.ops.aten.slice.Tensor(unsqueeze_4, 3, 2, 9223372036854775807);  unsqueeze_4 = None
            minimum: "f32[s52, 4, 4, 2]" = torch.ops.aten.minimum.default(slice_11, slice_13);  slice_11 = slice_13 = None
            sub_4: "f32[s52, 4, 4, 2]" = torch.ops.aten.sub.Tensor(minimum, maximum);  minimum = maximum = None
            clamp_2: "f32[s52, 4, 4, 2]" = torch.ops.aten.clamp.default(sub_4, 0);  sub_4 = None
            prod: "f32[s52, 4, 4]" = torch.ops.aten.prod.dim_int(clamp_2, -1);  clamp_2 = None
            slice_14: "f32[s52, 4]" = torch.ops.aten.slice.Tensor(mul_4, 0, 0, 9223372036854775807)
            unsqueeze_5: "f32[s52, 4, 1]" = torch.ops.aten.unsqueeze.default(slice_14, 2);  slice_14 = None
            slice_15: "f32[s52, 4]" = torch.ops.aten.slice.Tensor(mul_4, 0, 0, 9223372036854775807);  mul_4 = None
            unsqueeze_6: "f32[s52, 1, 4]" = torch.ops.aten.unsqueeze.default(slice_15, 1);  slice_15 = None
            add_3: "f32[s52, 4, 4]" = torch.ops.aten.add.Tensor(unsqueeze_5, unsqueeze_6);  unsqueeze_5 = unsqueeze_6 = None
            sub_5: "f32[s52, 4, 4]" = torch.ops.aten.sub.Tensor(add_3, prod);  add_3 = None
            add_4: "f32[s52, 4, 4]" = torch.ops.aten.add.Tensor(sub_5, 1e-06);  sub_5 = None
            div: "f32[s52, 4, 4]" = torch.ops.aten.div.Tensor(prod, add_4);  prod = add_4 = None
            triu: "f32[s52, 4, 4]" = torch.ops.aten.triu.default(div, 1);  div = None
            max_2 = torch.ops.aten.max.dim(triu, 1);  triu = None
            getitem_4: "f32[s52, 4]" = max_2[0]
            getitem_5: "i64[s52, 4]" = max_2[1];  max_2 = getitem_5 = None
            rsub: "f32[s52, 4]" = torch.ops.aten.rsub.Scalar(getitem_4, 1);  getitem_4 = None
            mul_5: "f32[s52, 4]" = torch.ops.aten.mul.Tensor(rsub, getitem_2);  rsub = getitem_2 = None
            gather_1: "i64[s52, 4]" = torch.ops.aten.gather.default(getitem_1, 1, getitem_3);  getitem_1 = getitem_3 = None
            return (clamp_1, mul_5, gather_1)
Graph signature:
    # inputs
    a: USER_INPUT
    b: USER_INPUT
    c: USER_INPUT
    # outputs
    clamp_1: USER_OUTPUT
    mul_5: USER_OUTPUT
    gather_1: USER_OUTPUT
Range constraints: {s52: VR[0, int_oo]}
