ExportedProgram:
    class GraphModule(torch.nn.Module):
        def forward(self, a: "f32[2, s11, 3]"):
            cummax = torch.ops.aten.cummax.default(a, 1)
            getitem: "f32[2, s11, 3]" = cummax[0]
            getitem_1: "i64[2, s11, 3]" = cummax[1];  cummax = None
            cummin = torch.ops.aten.cummin.default(a, 1)
            getitem_2: "f32[2, s11, 3]" = cummin[0];  cummin = None
            cumprod: "f32[2, s11, 3]" = torch.ops.aten.cumprod.default(a, 1)
            logcumsumexp: "f32[2, s11, 3]" = torch.ops.aten.logcumsumexp.default(a, 1);  a = None
            return (getitem, getitem_1, getitem_2, cumprod, logcumsumexp)
Graph signature:
    # inputs
    a: USER_INPUT
    # outputs
    getitem: USER_OUTPUT
    getitem_1: USER_OUTPUT
    getitem_2: USER_OUTPUT
    cumprod: USER_OUTPUT
    logcumsumexp: USER_OUTPUT
Range constraints: {s11: VR[0, int_oo]}
