ExportedProgram:
    class GraphModule(torch.nn.Module):
        def forward(self, a: "f32[s97, 4]", b: "i64[]", c: "f32[]"):
            item: "Sym(u0)" = torch.ops.aten.item.default(b);  b = None
            mul: "f32[s97, 4]" = torch.ops.aten.mul.Tensor(a, item)
            sub: "Sym(u0 - 1)" = item - 1
            sym_float: "Sym(ToFloat(u0 - 1))" = torch.sym_float(sub);  sub = None
            mul_1: "Sym(0.5*ToFloat(u0 - 1))" = sym_float * 0.5;  sym_float = None
            add: "f32[s97, 4]" = torch.ops.aten.add.Tensor(mul, mul_1);  mul = mul_1 = None
            arange: "i64[4]" = torch.ops.aten.arange.default(4, device = device(type='cpu'), pin_memory = False)
            lt: "b8[4]" = torch.ops.aten.lt.Scalar(arange, item);  arange = None
            where: "f32[s97, 4]" = torch.ops.aten.where.ScalarOther(lt, add, -1.0);  lt = add = None
            sum_1: "f32[]" = torch.ops.aten.sum.default(a)
            div: "f32[]" = torch.ops.aten.div.Tensor(sum_1, item);  sum_1 = item = None
            item_1: "Sym(zuf0)" = torch.ops.aten.item.default(c);  c = None
            full_like: "f32[s97, 4]" = torch.ops.aten.full_like.default(a, item_1, pin_memory = False);  a = item_1 = None
            return (where, div, full_like)
Graph signature:
    # inputs
    a: USER_INPUT
    b: USER_INPUT
    c: USER_INPUT
    # outputs
    where: USER_OUTPUT
    div: USER_OUTPUT
    full_like: USER_OUTPUT
Range constraints: {u0: VR[-int_oo, int_oo], zuf0: VR[-oo, oo], s97: VR[0, int_oo]}
