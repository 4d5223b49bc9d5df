#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The static archives of LLVM and MLIR that the release build links, whole folder: the linker takes
# what it needs from each. usage: llvm-archives.sh LIBDIR
for a in "$1"/libMLIR*.a "$1"/libLLVM*.a; do echo "$a"; done
