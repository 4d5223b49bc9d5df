# SPDX-License-Identifier: Apache-2.0
# The language server over pipes: headers that are right and wrong, and how it ends.
message() { printf 'Content-Length: %d\r\n\r\n%s' "${#1}" "$1"; }
initialize='{"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {}}'
shutdown='{"jsonrpc": "2.0", "id": 2, "method": "shutdown"}'
exit='{"jsonrpc": "2.0", "method": "exit"}'
open='{"jsonrpc": "2.0", "method": "textDocument/didOpen", "params": {"textDocument": {"uri": "file:///k.tile", "version": 5, "text": "@jit\ndef k(p: ptr[f32]):\n  store(p, q)\n"}}}'

serve() { tilec lsp < in; }
{ message "$initialize"; message "$shutdown"; message "$exit"; } > in
status 0 serve
has out '"positionEncoding": "utf-16"'
has out '"id": 2, "result": null'
test -s err && { echo "standard error is not empty"; exit 1; }

# The end of the input without `shutdown`, and `exit` without it.
message "$initialize" > in
status 1 serve
{ message "$initialize"; message "$exit"; message "$shutdown"; } > in
status 1 serve
lacks out '"id": 2'

# Wrong headers and lengths get errors; the messages behind them are read.
{
  printf 'Content-Length: many\r\n\r\n'
  printf 'Content-Length: 99999999999\r\n\r\n'
  printf 'X: y\r\n\r\n'
  printf 'Content-Length: 5\r\n\r\n'; printf '%s' "$initialize"
  printf 'Content-Length: 400\r\n\r\n{"a": 1}\n'
  head -c 100000 /dev/zero | tr '\0' x
  message "$initialize"
  printf 'content-length: %d\r\nContent-Type: application/vscode-jsonrpc; charset=utf-8\r\n\r\n%s' ${#shutdown} "$shutdown"
  message "$exit"
} > in
status 0 serve
has out '"code": -32700'
has out '"id": 1, "result"'
has out '"id": 2, "result": null'
test "$(grep -o '"code": -32700' out | wc -l)" -ge 4 || { echo "errors are missing"; cat out; exit 1; }

# Diagnostics come by themselves.
edit() {
  { message "$initialize"; message "$open"
    for _ in $(seq 100); do grep -q publishDiagnostics out && break; sleep 0.1; done
    message "$shutdown"; message "$exit"; } | tilec lsp
}
status 0 edit
has out '"version": 5'
has out 'E0201'
