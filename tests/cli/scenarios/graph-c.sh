# SPDX-License-Identifier: Apache-2.0
# A graph as a C program: two files that C89 takes, which need the runtime library alone. Without a
# GPU the program says so.
cat > model.py <<'GRAPH'
class G(torch.nn.Module):
    def forward(self, x: "f32[64, 128]", w: "f32[128, 32]"):
        softmax = torch.ops.aten._softmax.default(x, -1, False)
        mm = torch.ops.aten.mm.default(softmax, w)
        relu = torch.ops.aten.relu.default(mm)
        return (relu,)
GRAPH
status 0 tilec --graph model.py --emit=c -o made --target sm_90a --name two --ptxas none
test "$(ls made | tr '\n' ' ')" = "two.c two.h " || { ls made; exit 1; }
has made/two.h 'tile_status two_open('
has made/two.h 'tile_status two_run('
has made/two.h 'tile_status two_record('

# The same files each time.
mv made/two.c first.c
status 0 tilec --graph model.py --emit=c -o made --target sm_90a --name two --ptxas none
cmp made/two.c first.c

status 2 tilec --graph model.py --emit=c -o made --target sm_90a --name a-b --ptxas none
has err '[E0753]'

include=$HERE/../../../include
strict="-std=c89 -pedantic -Wall -Wextra -Werror -I $include"
status 0 cc $strict -c made/two.c -o library.o
status 0 cc $strict -DTWO_MAIN -c made/two.c -o two.o

# As a program, with the runtime library of this build; one built with sanitizers wants them in the program.
library=$(dirname "$tilec")/runtime
if ! grep -q __asan_init "$library/libtile-rt.so"; then
  status 0 cc two.o -L "$library" -ltile-rt -Wl,-rpath,"$library" -o two
  TILE_LIBCUDA=/nowhere/libcuda.so.1 status 1 ./two cuda
  has err 'tile_device_open: '
  has err '/nowhere/libcuda.so.1'
  status 1 ./two host
  has err 'two_open: '
fi
