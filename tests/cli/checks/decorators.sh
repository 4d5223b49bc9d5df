# SPDX-License-Identifier: Apache-2.0
# @autotune and @heuristics of a kernel, if nothing else sets the values.

cat > tuned.tile <<'KERNEL'
import triton
import triton.language as tl


def configs():
    return [triton.Config({"BLOCK": b}, num_warps=w) for b in [64, 128] for w in [b // 32, 8]]


@triton.autotune(configs=configs(), key=["n"])
@triton.heuristics({"EVEN": lambda args: args["n"] % args["BLOCK"] == 0})
@triton.jit
def fill(x: ptr[f32], n: i32, BLOCK: tl.constexpr, EVEN: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x + i, BLOCK * 10 + EVEN, mask=i < n)
KERNEL
fill=(tuned.tile --target cpu --arg 'x=f32[256]:zeros' --grid 'cdiv(n,BLOCK)')

check "the first configuration" 0 'grid \(3, 1, 1\)
\[640, 640,' --run "${fill[@]}" --arg n=130
check "a heuristic by the arguments" 0 'grid \(4, 1, 1\)
\[641, 641,' --run "${fill[@]}" --arg n=256
check "constants overrule the list" 0 'grid \(2, 1, 1\)
\[1281, 1281,' --run "${fill[@]}" --arg n=256 -D BLOCK=128
check "constants overrule heuristics" 0 '\[640, 640,' --run "${fill[@]}" --arg n=256 -D EVEN=False
check "benchmark" 0 'grid \(4, 1, 1\)' --bench "${fill[@]}" --arg n=256 --repeats 3

ptx=(tuned.tile --target sm_80 --emit=ptx -D EVEN=True)
check "the configuration's warps" 0 '\.reqntid 64' "${ptx[@]}"
check "the first configuration with these constants" 0 '\.reqntid 128' "${ptx[@]}" -D BLOCK=128
check "the first configuration with so many warps" 0 '\.reqntid 256' "${ptx[@]}" -D BLOCK=128 --num-warps 8
check "no configuration with these constants" 0 '\.reqntid 128' "${ptx[@]}" -D BLOCK=256
check "arguments that only a launch knows" 1 '-D EVEN=.*
\[E0463\]' tuned.tile --target sm_80 --emit=ptx
check "ahead of time" 0 'with EVEN=True, BLOCK=64' tuned.tile --target sm_80 --emit=header -D EVEN=True --grid 'cdiv(n,BLOCK)'

cat > needless.tile <<'KERNEL'
import os
import triton
import triton.language as tl


@triton.autotune(configs=[triton.Config({"BLOCK": int(os.environ["BLOCK"])})], key=[])
@triton.jit
def fill(x: ptr[f32], BLOCK: tl.constexpr):
    tl.store(x + tl.arange(0, BLOCK), 1.0)
KERNEL
check "a list that cannot be read and is not needed" 0 '\.reqntid 128' needless.tile --target sm_80 --emit=ptx -D BLOCK=32
check "a list that cannot be read and is needed" 1 'os\.environ.*\[E0460\]' needless.tile --target sm_80 --emit=ptx

# If the kernel declares defaults, the configuration with these values is the default.
cat > declared.tile <<'KERNEL'
import triton
import triton.language as tl


@triton.autotune(configs=[triton.Config({"BLOCK": 64}, num_warps=2), triton.Config({"BLOCK": 128}, num_warps=8)], key=[])
@triton.jit
def fill(x: ptr[f32], BLOCK: tl.constexpr = 128):
    tl.store(x + tl.arange(0, BLOCK), 1.0)
KERNEL
check "declared defaults" 0 '\.reqntid 256' declared.tile --target sm_80 --emit=ptx
check "other than the declared defaults" 0 '\.reqntid 64' declared.tile --target sm_80 --emit=ptx --num-warps 2

# When a launch is tuned, early_config_prune runs first, and heuristics are evaluated per configuration.
cat > pruned.tile <<'KERNEL'
import triton
import triton.language as tl


def prune(configs, named_args, **kwargs):
    return [c for c in configs if c.kwargs["BLOCK"] <= named_args["n"]]


@triton.autotune(configs=[triton.Config({"BLOCK": b}) for b in [64, 128, 512]], key=["n"],
                 prune_configs_by={"early_config_prune": prune})
@triton.heuristics({"EVEN": lambda args: args["n"] % args["BLOCK"] == 0})
@triton.jit
def fill(x: ptr[f32], n: i32, BLOCK: tl.constexpr, EVEN: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x + i, 1.0, mask=i < n)
KERNEL
check "tuning with a pruning function" 0 '2 of 2 configurations
BLOCK=64$
BLOCK=128$
!BLOCK=512' --autotune pruned.tile --target cpu --arg 'x=f32[192]:zeros' --arg n=192 --grid 'cdiv(n,BLOCK)'
