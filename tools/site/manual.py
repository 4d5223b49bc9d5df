# SPDX-License-Identifier: Apache-2.0
# The manual as HTML: the requests of man(7) that tools/pages/page_man.c writes.
import html, re


def words(text):
    """Fonts and escapes of a line."""
    text = html.escape(text.replace("\\&", "").replace("\\-", "-"))
    for letter, tag in (("B", "b"), ("I", "i")):
        text = re.sub(rf"\\f{letter}(.*?)\\fR", rf"<{tag}>\1</{tag}>", text)
    return text.replace("\\fR", "").replace("\\e", "\\")


def request(line):
    """A line that begins with a dot: name, arguments."""
    name, _, rest = line[1:].partition(" ")
    return name, [a.strip('"') for a in re.findall(r'"[^"]*"|\S+', rest)]


def convert(text):
    """The body of the page: headings with ids, lists of terms, paragraphs."""
    out, state = [], {"list": False, "term": False, "verbatim": False, "paragraph": False}

    def end(what, tag):
        if state[what]:
            out.append(tag)
            state[what] = False

    def close():
        end("paragraph", "</p>")
        end("list", "</dd></dl>")

    for line in text.split("\n"):
        if line.startswith((".\\\"", ".TH", ".RS", ".RE")) or not line:
            continue
        if line.startswith("."):
            name, arguments = request(line)
            rest = words(" ".join(arguments))
            if name in ("SH", "SS"):
                close()
                level = 2 if name == "SH" else 3
                title = rest.capitalize() if name == "SH" else rest
                out.append(f"<h{level}>{title}</h{level}>")
            elif name == "TP":
                end("paragraph", "</p>")
                out.append("</dd>" if state["list"] else "<dl>")
                state["list"], state["term"] = True, True
            elif name == "PP":
                close()
            elif name == "nf":
                close()
                out.append('<pre tabindex="0">')
                state["verbatim"] = True
            elif name == "fi":
                out.append("</pre>")
                state["verbatim"] = False
            elif name == "br":
                out.append("<br>")
            elif name in ("B", "I", "RI"):
                out.append(("" if state["paragraph"] else "<p>") + f"<{'b' if name == 'B' else 'i'}>{rest}</{'b' if name == 'B' else 'i'}> ")
                state["paragraph"] = True
            else:
                raise ValueError(f"unknown request of man(7): {line}")
        elif state["verbatim"]:
            out.append(words(line) + "\n")
        elif state["term"]:
            out.append(f"<dt>{words(line)}</dt><dd>")
            state["term"] = False
        else:
            if not state["list"] and not state["paragraph"]:
                out.append("<p>")
                state["paragraph"] = True
            out.append(words(line) + "\n")
    close()
    return "".join(out)
