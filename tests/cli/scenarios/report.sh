# SPDX-License-Identifier: Apache-2.0
# Pages of `tilec report`: whole documents that fetch nothing, with the source, messages, pictures and code.
whole() {
  command -v python3 > /dev/null || return 0
  python3 - "$1" <<'END' || exit 1
import html.parser, re, sys
text = open(sys.argv[1], encoding="utf-8").read()
void = {"meta", "link", "br", "img", "hr", "input"}
class Page(html.parser.HTMLParser):
    open, ids, links = [], set(), []
    def handle_starttag(self, tag, attributes):
        at = dict(attributes)
        self.ids |= {at["id"]} if "id" in at else set()
        self.links += [at[k] for k in ("href", "src") if k in at]
        if tag not in void: self.open.append(tag)
    def handle_endtag(self, tag):
        assert self.open and self.open[-1] == tag, f"</{tag}> ends {self.open[-3:]} at {self.getpos()}"
        self.open.pop()
page = Page()
page.feed(text)
assert not page.open, page.open
for link in page.links: # in the page itself, or none
    assert link == "data:," or link[0] == "#" and link[1:] in page.ids, link
assert not re.search(r"<script|@import|url\(", text)
assert not re.search(r'="-?(nan|inf)', text)
END
}
mkdir folder
cat > folder/rows.tile <<'END'
@jit
def rows(x: ptr[f32] % 16, out: ptr[f32] % 16, name: i32, R: constexpr = 4, C: constexpr = 256):
  # <b> & "quotes" stay text
  i = arange(0, R)
  k = arange(0, C)
  v = load(x + i[:, None] * C + k[None, :])
  store(out + i[:, None] * C + k[None, :], v / sum(v, axis=1, keep_dims=True))
END
status 0 tilec report folder/rows.tile --target sm_90a --ptxas none
has out 'written  rows.html'
[ -f rows.html ] && [ ! -e folder/rows.html ] || { echo 'the page is not in the current folder'; exit 1; }
whole rows.html
has rows.html '<h1>rows of rows.tile</h1>'
has rows.html '# &lt;b&gt; &amp; &quot;quotes&quot; stay text'
has rows.html 'limited by memory'
has rows.html 'shared memory:'
has rows.html '<code>tile.load</code>'
has rows.html 'estimated</dt>'
has rows.html '.target sm_90a'
has rows.html 'T0:0'
status 0 tilec report folder/rows.tile --target sm_80 -D C=512 -D R=1 -o - --quiet
has out '1x512xf32'
lacks out 'written  '

# Loops with rings, and remarks beside their lines.
status 0 tilec report "$HERE/../../../tutorials/06-matmul/matmul.tile" --kernel matmul --signature N=i32:16,K=i32:16 --num-warps 8 \
  --target sm_80 -o product.html
whole product.html
has product.html 'buffers over time'
has product.html '<b>remark:</b> uses mma.sync'

# A kernel with an error has a page that says it.
printf '@jit\ndef k(x: ptr[f32]):\n  store(x, 1.0 + undefined_name)\n' > wrong.tile
status 1 tilec report wrong.tile --target sm_80
whole wrong.html
has err 'wrong.tile:3:'
has wrong.html '<b>error:</b>'
has wrong.html 'it does not compile'

# Graphs: found by what is in the file.
cat > 'soft<max.py' <<'END'
def forward(self, x: "f32[64, 512]", w: "f32[512, 128]"):
    amax: "f32[64, 1]" = torch.ops.aten.amax.default(x, [1], True)
    sub: "f32[64, 512]" = torch.ops.aten.sub.Tensor(x, amax);  x = amax = None
    exp: "f32[64, 512]" = torch.ops.aten.exp.default(sub);  sub = None
    sum_1: "f32[64, 1]" = torch.ops.aten.sum.dim_IntList(exp, [1], True)
    div: "f32[64, 512]" = torch.ops.aten.div.Tensor(exp, sum_1);  exp = sum_1 = None
    mm: "f32[64, 128]" = torch.ops.aten.mm.default(div, w)
    return (mm,)
END
status 0 tilec report 'soft<max.py' --target sm_90a
whole 'soft<max.html'
has 'soft<max.html' 'of soft&lt;max.py'
has 'soft<max.html' 'Before: a kernel for each of'
has 'soft<max.html' 'temporaries by launch'
has 'soft<max.html' '<title>div: 131072 bytes at 0, launches 0 to 1</title>'
has 'soft<max.html' '@jit'
# Inputs 64 x 512 and 512 x 128, and the output 64 x 128: 416 KiB.
has 'soft<max.html' '416 KiB ('
status 0 tilec report --graph 'soft<max.py' --grad --grad-seeds --target sm_90a -o gradient.html
whole gradient.html
printf 'def forward(self, x: "f32[4]"):\n    y: "f32[4]" = torch.ops.aten.no_such.default(x)\n    return (y,)\n' > unknown.py
status 1 tilec report unknown.py --target sm_90a
whole unknown.html
has unknown.html 'no_such'

# No two values have the same memory at the same time, except that one may end where the next begins, in place.
status 0 tilec report "$HERE/../../graph/captures/gpt2.none.train.bw2.py" --target sm_90a -o training.html
whole training.html
disjoint() {
  command -v python3 > /dev/null || return 0
  python3 - <<'END' || exit 1
import re
rows = re.findall(r"<title>(\S+): (\d+) bytes at (\d+), launches (\d+) to (\d+)</title>", open("training.html").read())
blocks = [(name, int(at), int(at) + int(size), int(first), int(last)) for name, size, at, first, last in rows]
assert len(blocks) > 20, len(blocks)
for i, a in enumerate(blocks):
    for b in blocks[:i]:
        assert a[1] >= b[2] or b[1] >= a[2] or a[3] >= b[4] or b[3] >= a[4], (a, b)
END
}
disjoint

status 2 tilec report folder/rows.tile --json
has err 'a report is a page for people'
status 2 tilec report folder/rows.tile --emit=ptx
has err '`--emit` is not for it'
status 2 tilec report folder/rows.tile --stop-after=coalesce
has err 'a report needs all passes'
status 2 tilec report folder/rows.tile --run
status 1 tilec report no-such.tile
status 73 tilec report folder/rows.tile --target sm_90a -o no/such/folder.html
