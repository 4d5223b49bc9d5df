# SPDX-License-Identifier: Apache-2.0
# A transpose through shared memory: --check reports nothing, and a race if barriers are ignored.
cat > transpose.tile << 'TILE'
@jit
def transpose(x: ptr[f32], out: ptr[f32], N: constexpr):
    i = arange(0, N)
    v = load(x + i[:, None] * N + i[None, :])
    store(out + i[:, None] * N + i[None, :], trans(v))
TILE
transpose() {
  tilec --run transpose.tile --target cpu --check --arg 'x=f32[4096]:iota' --arg 'out=f32[4096]:zeros' --grid 3 -D N=64 "$@"
}
status 0 transpose
lacks err error
export TILE_CPU_NO_BARRIERS=1
status 1 transpose
has err 'transpose.tile:'
has err '[E0805]'
has err 'race in shared memory'
has err 'program (0, 0, 0): thread '
cp err first
status 1 transpose # whatever the workers do
cmp first err || exit 1
