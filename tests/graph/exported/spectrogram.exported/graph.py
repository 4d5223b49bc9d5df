ExportedProgram:
    class GraphModule(torch.nn.Module):
        def forward(self, a: "f32[s97, 40]"):
            sym_size_int_2: "Sym(s97)" = torch.ops.aten.sym_size.int(a, 0)
            hamming_window: "f32[12]" = torch.ops.aten.hamming_window.default(12, device = device(type='cpu'), pin_memory = False)
            view: "f32[1, s97, 40]" = torch.ops.aten.view.default(a, [1, sym_size_int_2, 40]);  a = None
            pad: "f32[1, s97, 56]" = torch.ops.aten.pad.default(view, [8, 8], 'reflect');  view = None
            view_1: "f32[s97, 56]" = torch.ops.aten.view.default(pad, [sym_size_int_2, 56]);  pad = sym_size_int_2 = None
            stft: "c64[s97, 9, 11]" = torch.ops.aten.stft.default(view_1, 16, 4, 12, hamming_window, False, None, True);  view_1 = hamming_window = None
            abs_1: "f32[s97, 9, 11]" = torch.ops.aten.abs.default(stft);  stft = None
            square: "f32[s97, 9, 11]" = torch.ops.aten.square.default(abs_1);  abs_1 = None
            add: "f32[s97, 9, 11]" = torch.ops.aten.add.Tensor(square, 1e-06);  square = None
            log10: "f32[s97, 9, 11]" = torch.ops.aten.log10.default(add);  add = None
            return (log10,)
Graph signature:
    # inputs
    a: USER_INPUT
    # outputs
    log10: USER_OUTPUT
Range constraints: {s97: VR[0, int_oo]}
