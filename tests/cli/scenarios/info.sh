# SPDX-License-Identifier: Apache-2.0
# --version, --help, --explain of every code.
status 0 tilec --version
has out 'tilec 0.'
status 0 tilec --help
has out '--print-ir-after'
for code in $(sed -nE 's/^DIAG\((E[0-9]+),.*/\1/p' "$HERE/../../../base/diag_codes.def"); do
  status 0 tilec --explain $code
  has out "$code: "
done
status 0 tilec --layout 'mma_v2 16x8'
has out 'T0:0'
status 0 tilec --diagnostics=json --version
