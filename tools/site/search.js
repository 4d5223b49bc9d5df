// SPDX-License-Identifier: Apache-2.0
// Search without a server: search-index.js has [page, anchor, title of the page, title of the section, text] of every section.
"use strict";
(() => {
  const box = document.getElementById("site-search"), list = document.getElementById("site-results"), root = document.body.dataset.root;
  const MOST = 12, AROUND = 60;
  let sections = null, chosen = -1;

  const load = () => {
    if (document.getElementById("site-index")) return;
    const script = document.createElement("script");
    script.id = "site-index";
    script.src = root + "search-index.js";
    script.onload = () => { sections = window.searchIndex; show(); };
    document.head.append(script);
  };

  // How often a word occurs at the beginning of words; titles count more. 0: not at all.
  const count = (text, word) => {
    let n = 0;
    for (let at = text.indexOf(word); at >= 0; at = text.indexOf(word, at + word.length))
      n += at === 0 || !/[\p{L}\p{N}_]/u.test(text[at - 1]) ? 2 : 1;
    return n;
  };
  const score = ([, , page, title, text], words) => {
    let sum = 0;
    for (const word of words) {
      const n = 40 * count(title.toLowerCase(), word) + 10 * count(page.toLowerCase(), word) + Math.min(20, count(text.toLowerCase(), word));
      if (n === 0) return 0;
      sum += n;
    }
    return sum;
  };

  const excerpt = (text, word) => {
    const at = Math.max(0, text.toLowerCase().indexOf(word)), from = Math.max(0, at - AROUND), part = document.createElement("small");
    part.append(from ? "… " : "", text.slice(from, at));
    const mark = document.createElement("mark");
    mark.textContent = text.slice(at, at + word.length);
    part.append(mark, text.slice(at + word.length, at + 2 * AROUND));
    return part;
  };

  const choose = index => {
    chosen = index;
    [...list.children].forEach((item, i) => item.classList.toggle("chosen", i === index));
    list.children[index]?.scrollIntoView({ block: "nearest" });
  };

  const show = () => {
    const words = box.value.toLowerCase().split(/\s+/).filter(w => w);
    list.replaceChildren();
    list.hidden = words.length === 0 || !sections;
    if (list.hidden) return;
    const found = sections.map(s => [score(s, words), s]).filter(([n]) => n).sort((a, b) => b[0] - a[0]).slice(0, MOST);
    for (const [, [page, anchor, name, title, text]] of found) {
      const item = document.createElement("li"), link = document.createElement("a");
      link.href = root + page + (anchor ? "#" + anchor : "");
      link.textContent = title === name ? name : `${name}: ${title}`;
      item.append(link, excerpt(text, words[0]));
      list.append(item);
    }
    if (!found.length) list.append(Object.assign(document.createElement("li"), { textContent: "nothing found" }));
    choose(found.length ? 0 : -1);
  };

  box.addEventListener("focus", load);
  box.addEventListener("input", () => { load(); show(); });
  box.addEventListener("keydown", e => {
    const count = list.children.length;
    if (e.key === "ArrowDown" && count) choose((chosen + 1) % count);
    else if (e.key === "ArrowUp" && count) choose((chosen + count - 1) % count);
    else if (e.key === "Enter" && chosen >= 0) list.children[chosen].querySelector("a").click();
    else if (e.key === "Escape") { box.value = ""; show(); }
    else return;
    e.preventDefault();
  });
  document.addEventListener("keydown", e => {
    if (e.key !== "/" || /INPUT|TEXTAREA/.test(document.activeElement.tagName)) return;
    e.preventDefault();
    box.focus();
  });
  document.addEventListener("click", e => { if (!e.target.closest("form")) list.hidden = true; });
  box.form.addEventListener("submit", e => e.preventDefault());
})();
