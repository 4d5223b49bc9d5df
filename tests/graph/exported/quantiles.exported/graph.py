ExportedProgram:
    class GraphModule(torch.nn.Module):
        def forward(self, b_inner_at: "f32[3]", a: "f32[s97, 7]"):
            quantile: "f32[3, s97, 1]" = torch.ops.aten.quantile.default(a, b_inner_at, 1, True);  b_inner_at = None
            unbind = torch.ops.aten.unbind.int(quantile);  quantile = None
            getitem: "f32[s97, 1]" = unbind[0]
            getitem_1: "f32[s97, 1]" = unbind[1]
            getitem_2: "f32[s97, 1]" = unbind[2];  unbind = None
            sub: "f32[s97, 7]" = torch.ops.aten.sub.Tensor(a, getitem_1);  getitem_1 = None
            sub_1: "f32[s97, 1]" = torch.ops.aten.sub.Tensor(getitem_2, getitem);  getitem_2 = getitem = None
            add: "f32[s97, 1]" = torch.ops.aten.add.Tensor(sub_1, 0.001);  sub_1 = None
            div: "f32[s97, 7]" = torch.ops.aten.div.Tensor(sub, add);  sub = add = None
            gt: "b8[s97, 7]" = torch.ops.aten.gt.Scalar(a, 1)
            masked_fill: "f32[s97, 7]" = torch.ops.aten.masked_fill.Scalar(a, gt, nan);  gt = None
            nanquantile: "f32[s97]" = torch.ops.aten.nanquantile.scalar(masked_fill, 0.4, 1);  masked_fill = None
            quantile_1: "f32[s97]" = torch.ops.aten.quantile.scalar(a, 0.9, 1, interpolation = 'nearest');  a = None
            return (div, nanquantile, quantile_1)
Graph signature:
    # inputs
    b_inner_at: BUFFER target='inner.at' persistent=True
    a: USER_INPUT
    # outputs
    div: USER_OUTPUT
    nanquantile: USER_OUTPUT
    quantile_1: USER_OUTPUT
Range constraints: {s97: VR[0, int_oo]}
