# SPDX-License-Identifier: Apache-2.0
# In a folder without `__init__.py`.
import triton

from ..scaled import FACTOR
from ... import beside


@triton.jit
def doubled(x):
  return x + x + beside.ONE


@triton.jit
def helper(x):
  return x * FACTOR
