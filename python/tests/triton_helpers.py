# SPDX-License-Identifier: Apache-2.0
"""Helpers of another module, for test_triton.py; OFFSET is a global of both with different values."""
import triton
import triton.language as tl

OFFSET = tl.constexpr(100)


@triton.jit
def shifted(x):
    return x + OFFSET


@triton.jit
def scaled(x, factor):
    return shifted(x * factor)
