# SPDX-License-Identifier: Apache-2.0
# device_assert stops a checked run with its message and place.
cat > a.tile <<'K'
@jit
def k(x: ptr[i32], n: i32):
    v = load(x + arange(0, 4))
    device_assert(v < n, "value too large")
K
status 0 tilec --run a.tile --target host --arg 'x=i32[4]:iota' --arg n=4 --grid 1 --check
status 1 tilec --run a.tile --target host --arg 'x=i32[4]:iota' --arg n=3 --grid 1 --check
has err '[E0804]'
has err 'a.tile:4:'
has err 'value too large'
