# SPDX-License-Identifier: Apache-2.0
import torch
import triton
import triton.language as tl

from .inner import deep
from .cpu_choice import tl_extra_shim

FACTOR: tl.constexpr = 3

_floor = tl_extra_shim.floor


def launch(x):
  return torch.empty_like(x)


@triton.jit
def scaled(x, by: tl.constexpr = FACTOR):
  return deep.doubled(_floor(x)) * by


class Pair(NamedTuple):
  first: tl.tensor
  second: tl.tensor
