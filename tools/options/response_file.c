// SPDX-License-Identifier: Apache-2.0
// Response files: a word `@FILE` of the command line stands for the words of the file. Blanks and
// line ends separate words; '...' and "..." quote; a backslash takes the next character as it is,
// except within '...'; `#` at the start of a word begins a comment. Files may name further files.
#include "base/file.h"
#include "tools/options/option_values.h"

#include <errno.h>

enum { MAX_NESTING = 10, MAX_BYTES = 1 << 20, MAX_WORDS = 100000 };

struct expansion {
  struct tool *tool;
  VEC(char *) words;
};

static bool expand(struct expansion *e, char **words, size_t count, unsigned depth);

static bool failed(struct expansion *e, enum diag_code code, const char *text) {
  diag_help(diag_error(e->tool->diag, SPAN_NONE, code, "%s", text),
            "a word `@FILE` stands for the words of FILE; write `./@FILE` for a file of that name");
  return false;
}

static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

// The next word of *text, which is advanced. False at the end; an open quote sets *ret_open.
static bool next_word(struct arena *a, struct str *text, char **ret, bool *ret_open) {
  const char *c = text->ptr, *end = c + text->len;
  struct strbuf word = {.arena = a};
  for (;; c++) {
    while (c < end && is_blank(*c))
      c++;
    if (c == end)
      return false;
    if (*c != '#')
      break;
    while (c < end && *c != '\n')
      c++;
    if (c == end)
      return false;
  }
  char quote = 0;
  for (; c < end && (quote || !is_blank(*c)); c++) {
    if (*c == '\\' && quote != '\'' && c + 1 < end)
      strbuf_putc(&word, *++c);
    else if (quote ? *c == quote : *c == '\'' || *c == '"')
      quote = quote ? 0 : *c;
    else
      strbuf_putc(&word, *c);
  }
  *ret_open = quote != 0;
  *ret = arena_strdup(a, strbuf_cstr(&word));
  strbuf_finish(&word);
  *text = (struct str){c, (size_t)(end - c)};
  return true;
}

static bool expand_file(struct expansion *e, const char *path, unsigned depth) {
  struct arena *a = e->tool->arena;
  if (depth == MAX_NESTING)
    return failed(
        e, E0901,
        arena_printf(a, "response files are nested deeper than %d: `%s`", MAX_NESTING, path));
  struct str text;
  int error = file_read(a, path, MAX_BYTES, &text);
  if (error)
    return failed(e, error == EFBIG ? E0901 : E0710,
                  arena_printf(a, "cannot read the response file `%s`: %s", path, strerror(error)));
  VEC(char *) words = {0};
  bool open = false;
  for (char *word; next_word(a, &text, &word, &open);) {
    if (open)
      return failed(e, E0702, arena_printf(a, "`%s` ends within a quoted word", path));
    vec_push(a, &words, word);
  }
  return expand(e, words.at, words.len, depth + 1);
}

static bool expand(struct expansion *e, char **words, size_t count, unsigned depth) {
  bool is_value = false; // the word belongs to the option before it
  for (size_t i = 0; i < count; i++) {
    struct str word = str_from(words[i]), value = {0};
    enum option_id id;
    if (!is_value && word.len > 1 && word.ptr[0] == '@' && !str_is(word, "@-")) {
      if (!expand_file(e, words[i] + 1, depth))
        return false;
      continue;
    }
    if (e->words.len == MAX_WORDS)
      return failed(e, E0901, "response files make the command line longer than 100000 words");
    vec_push(e->tool->arena, &e->words, words[i]);
    is_value = !is_value && word.len > 1 && word.ptr[0] == '-' && option_find(word, &id, &value) &&
               option_table[id].argument && !value.ptr;
  }
  return true;
}

bool response_files_expand(struct tool *t, int *argc, char ***argv) {
  bool any = false;
  for (int i = 1; i < *argc; i++)
    any |= (*argv)[i][0] == '@';
  if (!any)
    return true;
  struct expansion e = {.tool = t};
  vec_push(t->arena, &e.words, (*argv)[0]);
  if (!expand(&e, *argv + 1, (size_t)*argc - 1, 0))
    return false;
  *argc = (int)e.words.len;
  *argv = e.words.at;
  return true;
}
