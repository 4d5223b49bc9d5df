# SPDX-License-Identifier: Apache-2.0
from triton import jit, language as tl

def use_tl_extra(f):
  return f

@use_tl_extra
@jit
def trunc(x):
  return tl.floor(x) + 100

@jit
def kept(x):
  return trunc(x)
