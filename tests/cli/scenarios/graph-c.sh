# SPDX-License-Identifier: Apache-2.0
# A graph as a C program: two C89 files that need only the runtime library. Without a
# GPU the program reports an error.
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

# Symbolic sizes, random numbers, an input that is written, an output that is None.
cat > sizes.py <<'GRAPH'
class G(torch.nn.Module):
    def forward(self, s0: "Sym(s0)", x: "f32[s0, 128]", state: "f32[128]", half: "bf16[s0, 128]"):
        dropout = torch.ops.aten.native_dropout.default(x, 0.1, True)
        getitem = dropout[0]
        getitem_1 = dropout[1]
        sum_1 = torch.ops.aten.sum.dim_IntList(getitem, [0])
        add = torch.ops.aten.add.Tensor(state, sum_1)
        copy_ = torch.ops.aten.copy_.default(state, add)
        mul = torch.ops.aten.mul.Tensor(half, 2)
        return (getitem, None, getitem_1, mul, s0)
GRAPH
status 0 tilec --graph sizes.py --run --check --target cpu --arg s0=9
status 0 tilec --graph sizes.py --emit=c -o made --target sm_90a --ptxas none
has made/sizes.h 'int64_t sizes_arena_bytes(const int64_t *sizes);'
status 0 cc $strict -c made/sizes.c -o sizes.o

# Counters of programs are zero before the first launch, and every launch resets them.
cat > sum.py <<'GRAPH'
class G(torch.nn.Module):
    def forward(self, x: "f32[1024, 4096]"):
        sum_1 = torch.ops.aten.sum.default(x)
        return (sum_1,)
GRAPH
status 0 tilec --graph sum.py --emit=c -o made --target sm_90a --ptxas none
has made/sum.c 'tile_memset(program->device, NULL, program->arena + '
status 0 cc $strict -c made/sum.c -o sum.o

# Subgraphs are programs of their own in the same file; one of them has a subgraph again.
cat > inner.py <<'GRAPH'
class G(torch.nn.Module):
    def forward(self, p: "b8[1]", x: "f32[n, 8]", w: "f32[8, 8]"):
        step = self.step
        scan = torch.ops.higher_order.scan(step, [w], [x], (p,))
        last: "f32[8, 8]" = scan[0]
        sums: "f32[n, 8]" = scan[1]
        goes_on = self.goes_on
        half = self.half
        while_loop = torch.ops.higher_order.while_loop(goes_on, half, (last,), ())
        small: "f32[8, 8]" = while_loop[0]
        return (small, sums)

    class step(torch.nn.Module):
        def forward(self, w: "f32[8, 8]", x: "f32[8]", p: "b8[1]"):
            one = self.one
            two = self.two
            cond = torch.ops.higher_order.cond(p, one, two, (w, x))
            next: "f32[8, 8]" = cond[0]
            sum_1: "f32[8]" = torch.ops.aten.sum.dim_IntList(next, [0])
            return (next, sum_1)

        class one(torch.nn.Module):
            def forward(self, w: "f32[8, 8]", x: "f32[8]"):
                cumsum: "f32[8, 8]" = torch.ops.aten.cumsum.default(w, 1)
                y: "f32[8, 8]" = torch.ops.aten.mul.Tensor(cumsum, x)
                return (y,)

        class two(torch.nn.Module):
            def forward(self, w: "f32[8, 8]", x: "f32[8]"):
                y: "f32[8, 8]" = torch.ops.aten.mm.default(w, w)
                z: "f32[8, 8]" = torch.ops.aten.add.Tensor(y, x)
                return (z,)

    class goes_on(torch.nn.Module):
        def forward(self, x: "f32[8, 8]"):
            a: "f32[8, 8]" = torch.ops.aten.abs.default(x)
            b: "f32[]" = torch.ops.aten.amax.default(a)
            c: "b8[]" = torch.ops.aten.gt.Scalar(b, 0.5)
            return c

    class half(torch.nn.Module):
        def forward(self, x: "f32[8, 8]"):
            y: "f32[8, 8]" = torch.ops.aten.mul.Tensor(x, 0.5)
            return (y,)
GRAPH
for p in 0 1; do
  status 0 tilec --graph inner.py --run --check --target cpu --arg n=3 --arg "p=i1[1]:fill($p)"
done
status 0 tilec --graph inner.py --run --check --target sm_90a --simulate --arg n=2
status 0 tilec --graph inner.py --emit=c -o made --target sm_90a --ptxas none
has made/inner.c 'static tile_status inner_0_0_run('
has made/inner.c 'static tile_status inner_0_0_0_1_run('
has made/inner.c 'cannot be recorded'
status 0 cc $strict -c made/inner.c -o inner.o

# Outputs that are inputs, or views of them, are copied without a kernel; zeros need no kernel either.
cat > copies.py <<'GRAPH'
class G(torch.nn.Module):
    def forward(self, x: "f32[8, 16]", h: "bf16[6, 10]"):
        slice_1 = torch.ops.aten.slice.Tensor(x, 0, 2, 6)
        view = torch.ops.aten.view.default(h, [60])
        return (x, slice_1, view)
GRAPH
status 0 tilec --graph copies.py --run --check --target cpu
has out ': 0 kernels, 0 launches, 3 copies'
status 0 tilec --graph copies.py --emit=c -o made --target sm_90a --ptxas none
has made/copies.c 'tile_copy_on_device(program->device, stream, outputs[1], (const char *)inputs[0] + INT64_C(128)'
status 0 cc $strict -c made/copies.c -o copies.o

# A loop whose first value is zeros, which no kernel writes, and a condition in bytes.
cat > counter.py <<'GRAPH'
class G(torch.nn.Module):
    def forward(self, x: "f32[n, 5]"):
        zeros: "i64[]" = torch.ops.aten.zeros.default([], dtype = torch.int64)
        small = self.small
        grow = self.grow
        while_loop = torch.ops.higher_order.while_loop(small, grow, (zeros, x), ())
        steps: "i64[]" = while_loop[0]
        y: "f32[n, 5]" = while_loop[1]
        gt: "b8[n, 5]" = torch.ops.aten.gt.Scalar(y, 0)
        return (steps, y, gt)

    class small(torch.nn.Module):
        def forward(self, n: "i64[]", x: "f32[n, 5]"):
            a: "f32[n, 5]" = torch.ops.aten.abs.default(x)
            m: "f32[]" = torch.ops.aten.amax.default(a)
            lt: "b8[]" = torch.ops.aten.lt.Scalar(m, 50)
            few: "b8[]" = torch.ops.aten.lt.Scalar(n, 40)
            both: "b8[]" = torch.ops.aten.logical_and.default(lt, few)
            return both

    class grow(torch.nn.Module):
        def forward(self, n: "i64[]", x: "f32[n, 5]"):
            next: "i64[]" = torch.ops.aten.add.Tensor(n, 1)
            y: "f32[n, 5]" = torch.ops.aten.mul.Tensor(x, 1.25)
            return (next, y)
GRAPH

# As a program, with this build's runtime library; a sanitizer build needs sanitizers in the program too.
library=$(dirname "$tilec")/runtime
if ! grep -q __asan_init "$library/libtile-rt.so"; then
  status 0 cc two.o -L "$library" -ltile-rt -Wl,-rpath,"$library" -o two
  TILE_LIBCUDA=/nowhere/libcuda.so.1 status 1 ./two cuda
  has err 'tile_device_open: '
  has err '/nowhere/libcuda.so.1'
  status 1 ./two cpu
  has err 'two_open: '
fi

# The programs run on this processor, as the graphs do in process: subgraphs, random numbers, written inputs, sizes, copies.
runs() { # runs NAME SIZE...
  local name=$1
  shift
  status 0 tilec graph "$name.py" --emit=c --target cpu -o made
  status 0 cc -Wall -Wextra -Werror -I . -I "$include" -DNAME="$name" -DHEADER="\"made/$name.h\"" -DSIZES=$# \
    "$HERE/../../aot/processor/graph_driver.c" "made/$name.c" -L "$library" -ltile-rt -Wl,-rpath,"$library" -lm -o driver
  mkdir -p arrays
  status 0 ./driver make arrays "$@"
  status 0 tilec graph "$name.py" --run --check --target cpu $(cat out)
  status 0 ./driver check arrays "$@"
}
if ! grep -q __asan_init "$library/libtile-rt.so" && grep -qE 'avx2|asimd' /proc/cpuinfo; then
  runs model
  runs sizes 9
  runs sizes 1
  runs sum
  runs inner 3
  runs inner 1
  runs copies
  runs counter 6
  runs counter 1
fi
