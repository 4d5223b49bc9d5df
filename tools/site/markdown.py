# SPDX-License-Identifier: Apache-2.0
# Markdown to HTML by cmark-gfm (the dialect of code hosts), and what a site needs beyond it: anchors of headings, links between
# pages, tables that scroll. Paths are relative to the repository.
import html, os, posixpath, re, subprocess

CONVERTER = "cmark-gfm"


def convert(text):
    """HTML of a document; raw HTML in it is left out."""
    options = [CONVERTER, "-e", "table", "-e", "strikethrough", "-e", "autolink", "--validate-utf8"]
    return subprocess.run(options, input=text, capture_output=True, text=True, check=True).stdout


def plain(fragment):
    """The text of a fragment of HTML."""
    return html.unescape(re.sub(r"<[^>]*>", "", fragment))


def anchor(title, taken):
    """The anchor of a heading, as code hosts make it: `A b, c` is a-b-c; a second one is a-b-c-1."""
    name = re.sub(r"[^\w\- ]", "", title.strip().lower()).replace(" ", "-") or "section"
    count = taken.get(name, 0)
    taken[name] = count + 1
    return f"{name}-{count}" if count else name


def page_of(path):
    """Where a document's page is in the site: README.md is the page of its folder."""
    folder, name = posixpath.split(path)
    return posixpath.join(folder, "index.html" if name == "README.md" else name[:-3] + ".html")


def table(m):
    """A table that scrolls; one of two or three columns may show its cells below each other."""
    kind = ' class="few"' if len(re.findall(r"<th[ >]", m[0])) <= 3 else ""
    return f'<div class="scroll" tabindex="0">{m[0].replace("<table>", f"<table{kind}>", 1)}</div>'


class Converter:
    """`pages`: documents of the site, by path, to their pages. `files`: other files that are linked, to be copied, filled here."""

    def __init__(self, root, pages):
        self.root, self.pages, self.files = root, pages, set()

    def relative(self, target, page):
        return posixpath.relpath(target, posixpath.dirname(page) or ".")

    def target_of(self, path):
        """The page or copied file of a path of the repository; None: it has none."""
        path = posixpath.normpath(path)
        for document in (path, posixpath.join(path, "README.md")):
            if document in self.pages:
                return self.pages[document]
        if os.path.isfile(os.path.join(self.root, path)) and not path.startswith(".."):
            self.files.add(path)
            return path
        return None

    def link(self, address, document, page):
        """The address in the site of a link of a document; None: it leads nowhere."""
        if re.match(r"[a-z]+:", address) or address.startswith("#"):
            return address
        path, _, fragment = address.partition("#")
        target = self.target_of(posixpath.join(posixpath.dirname(document), path))
        return target and self.relative(target, page) + ("#" + fragment if fragment else "")

    def sections(self, body):
        """Gives headings their anchors. The body, and (level, anchor, title, end of the heading) of each."""
        taken, found = {}, []

        def replace(m):
            title = plain(m[2])
            name = anchor(title, taken)
            found.append((int(m[1]), name, title))
            mark = f'<a class="anchor" href="#{name}" aria-label="link to this section">#</a>' if m[1] != "1" else ""
            return f'<h{m[1]} id="{name}">{m[2]}{mark}</h{m[1]}>'

        return re.sub(r"<h([1-6])>(.*?)</h\1>", replace, body, flags=re.S), found

    def code_link(self, m, page):
        """`docs/x.md` and `tutorials/x` in code font lead to their pages."""
        word = html.unescape(m[1])
        target = self.pages.get(word) or self.pages.get(posixpath.join(word.rstrip("/"), "README.md")) if re.fullmatch(r"[\w./-]+", word) else None
        return f'<a href="{self.relative(target, page)}">{m[0]}</a>' if target and target != page and "/" in word else m[0]

    def page(self, document, page):
        """The body of a document's page, and its sections: (level, anchor, title)."""
        with open(os.path.join(self.root, document), encoding="utf-8") as f:
            body = convert(f.read())

        def replace_link(m):
            address = self.link(html.unescape(m[2]), document, page)
            return f'{m[1]}="{html.escape(address)}"' if address else 'class="missing"'

        # In code blocks nothing is a link; elsewhere outside links code in code font may become one.
        parts = re.split(r"(<pre>.*?</pre>|<a [^>]*>.*?</a>)", body, flags=re.S)
        for i, part in enumerate(parts):
            if part.startswith("<pre>"):
                parts[i] = part.replace("<pre>", '<pre tabindex="0">', 1)
                continue
            part = re.sub(r'(href|src)="([^"]*)"', replace_link, part)
            parts[i] = part if part.startswith("<a ") else re.sub(r"<code>([^<]*)</code>", lambda m: self.code_link(m, page), part)
        body, sections = self.sections("".join(parts))
        body = re.sub(r"<table>.*?</table>", table, body, flags=re.S)
        body = re.sub(r"<p>(<img [^>]*/?>)</p>", r'<figure tabindex="0">\1</figure>', body)
        return re.sub(r"<!-- raw HTML omitted -->\n?", "", body), sections
