# SPDX-License-Identifier: Apache-2.0
# Options for debugging and reports.
status 0 tilec "$ADD" --target sm_90a --emit=ptx --print-ir-after=coalesce
has err 'after coalesce'
status 0 tilec "$ADD" --target sm_90a --emit=ptx --print-ir-after=change
status 0 tilec "$ADD" --target sm_90a --emit=ptx --time-passes
has err 'assign-layouts'
has err 'codegen'
status 0 tilec "$ADD" --target sm_90a --emit=ptx --time-passes --repeats 2
has err 'least of the repeats'
status 0 tilec "$ADD" --target sm_90a --emit=ptx --verify-each
status 0 tilec "$ADD" --target sm_90a --stop-after=coalesce
has out 'tilegpu.convert_layout'
status 0 tilec "$ADD" --target sm_90a --emit=ptx --dump-dir=dump
test -s dump/03-canonicalize.mlir
status 0 tilec dump/03-canonicalize.mlir --passes=cse,dce
has out 'tile.load'
status 0 tilec --list-passes
has out 'remove-layout-conversions'
status 0 env TILE_DEBUG=passes "$tilec" "$ADD" --target sm_90a --emit=ptx
has err 'coalesce: changed'
