# A product with weights packed for one device
class GraphModule(torch.nn.Module):
    def forward(self, x: "bf16[4, 64][64, 1]", w: "i32[4, 1, 32, 4][128, 128, 4, 1]", q: "u8[32, 32][32, 1]", s: "bf16[2, 32, 2][64, 2, 1]"):
        y = torch.ops.aten._weight_int4pack_mm.default(x, w, 32, s)
        z = torch.ops.aten._weight_int4pack_mm_for_cpu.default(x, q, 32, s)
        return (y, z)
