# SPDX-License-Identifier: Apache-2.0
# The assembler of the CUDA toolkit, if installed, accepts the PTX without messages.
if ! command -v ptxas > /dev/null; then return 0; fi
for f in "$ADD" "$HERE/../../../tutorials/02-fused-elementwise/fused.tile"; do
  for t in sm_80 sm_86 sm_89 sm_90a sm_100a; do
    k=add; case $f in *fused*) k=bias_gelu_residual ;; esac
    status 0 tilec "$f" --kernel $k --target $t --emit=ptx -o k.ptx
    status 0 ptxas -arch=$t k.ptx -o k.cubin
    test ! -s err || { cat err; exit 1; }
  done
done
