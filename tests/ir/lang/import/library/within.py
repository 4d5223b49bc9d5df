# SPDX-License-Identifier: Apache-2.0
import triton
from library.inner.deep import doubled


@triton.jit
def kernel(x: ptr[f32]):
  store(x, doubled(load(x)))
