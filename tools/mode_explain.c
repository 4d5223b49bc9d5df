// SPDX-License-Identifier: Apache-2.0
// --explain CODE: the explanation of a diagnostic and its examples from docs/diagnostics, embedded
// in the program.
#include "tools/tool.h"

// The pages of docs/diagnostics, embedded by Meson.
#define PAGES(X)                                                                                   \
  X(lexing)                                                                                        \
  X(syntax)                                                                                        \
  X(types)                                                                                         \
  X(constants) X(kernels) X(builtins) X(layouts) X(command_line) X(devices) X(limits) X(graphs)

#define X(name)                                                                                    \
  extern const char diag_examples_##name[];                                                        \
  extern const size_t diag_examples_##name##_len;
PAGES(X)
#undef X

// The part of the pages that begins after `### CODE`; ptr NULL if there is none.
static struct str find_examples(const char *code) {
  const struct str pages[] = {
#define X(name) {diag_examples_##name, diag_examples_##name##_len},
      PAGES(X)
#undef X
  };
  for (size_t i = 0; i < COUNT_OF(pages); i++)
    for (struct str rest = pages[i], line; rest.ptr;) {
      rest = str_split(rest, '\n', &line);
      if (line.len == 9 && str_starts(line, "### ") && memcmp(line.ptr + 4, code, 5) == 0)
        return rest;
    }
  return (struct str){0};
}

// The block that begins "```LANGUAGE WORD"; its options follow in *ret_options.
static bool find_block(struct str examples, const char *word, struct str *ret,
                       struct str *ret_language, struct str *ret_options) {
  struct str line, head;
  while (examples.ptr) {
    examples = str_split(examples, '\n', &line);
    if (str_starts(line, "### "))
      return false;
    if (!str_starts(line, "```") || line.len == 3)
      continue;
    struct str tail = str_split((struct str){line.ptr + 3, line.len - 3}, ' ', ret_language);
    *ret_options = str_split(tail, ' ', &head);
    const char *begin = examples.ptr;
    while (examples.ptr && !str_is(line, "```"))
      examples = str_split(examples, '\n', &line);
    if (str_is(head, word)) {
      *ret = (struct str){begin, (size_t)(line.ptr - begin)};
      return true;
    }
  }
  return false;
}

static void print_block(const char *title, struct str block, struct str options,
                        struct strbuf *out) {
  strbuf_printf(out, "\n%s", title);
  if (options.len)
    strbuf_printf(out, ", with %.*s", STR_ARG(options));
  strbuf_puts(out, ":\n\n");
  for (struct str rest = block, line; rest.ptr && rest.len;) {
    rest = str_split(rest, '\n', &line);
    strbuf_printf(out, line.len ? "    %.*s\n" : "\n", STR_ARG(line));
  }
}

static void print_text(enum diag_code code, struct str examples, struct strbuf *out) {
  strbuf_printf(out, "%s: %s\n\n%s\n", diag_code_name(code), diag_code_title(code),
                diag_code_explain(code));
  struct str block, language, options;
  if (find_block(examples, "wrong", &block, &language, &options))
    print_block("Wrong", block, options, out);
  if (find_block(examples, "right", &block, &language, &options))
    print_block("Right", block, options, out);
  const char *section = diag_code_section(code);
  if (*section >= '0' && *section <= '9')
    strbuf_printf(out, "\nLanguage reference (lang/REFERENCE.md), section %s.\n", section);
  else if (*section)
    strbuf_printf(out, "\nSee %s.\n", section);
}

static void write_block(struct str examples, const char *word, struct json_writer *w) {
  struct str block, language, options;
  if (!find_block(examples, word, &block, &language, &options))
    return;
  json_key(w, word), json_begin_object(w);
  json_key(w, "language"), json_string(w, language);
  json_key(w, "options"), json_string(w, options.ptr ? options : STR(""));
  json_key(w, "text"), json_string(w, block);
  json_end_object(w);
}

static void print_json(enum diag_code code, struct str examples, struct strbuf *out) {
  struct json_writer w = {.out = out};
  json_begin_object(&w);
  json_key(&w, "code"), json_cstring(&w, diag_code_name(code));
  json_key(&w, "title"), json_cstring(&w, diag_code_title(code));
  json_key(&w, "section"), json_cstring(&w, diag_code_section(code));
  json_key(&w, "explain"), json_cstring(&w, diag_code_explain(code));
  write_block(examples, "wrong", &w);
  write_block(examples, "right", &w);
  json_end_object(&w);
  strbuf_putc(out, '\n');
}

// The nearest known code, for "did you mean"; NULL if none is near.
static const char *nearest_code(struct str name) {
  const char *names[DIAG_CODE_COUNT];
  for (int c = 0; c < DIAG_CODE_COUNT; c++)
    names[c] = diag_code_name((enum diag_code)c);
  return str_nearest(name, names, DIAG_CODE_COUNT);
}

int mode_explain(struct tool *t) {
  enum diag_code code;
  struct str name = str_from(t->o.mode_argument);
  if (!diag_code_find(name, &code)) {
    struct diag *d = diag_error(t->diag, t->o.mode_at, E0708, "no diagnostic has the code `%.*s`",
                                STR_ARG(name));
    const char *near = nearest_code(name);
    if (near)
      diag_did_you_mean(d, t->o.mode_at, near);
    else
      diag_help(d, "codes stand in brackets at the end of a message, such as `E0214`");
    return EXIT_USAGE;
  }
  struct strbuf out = {.arena = t->arena};
  struct str examples = find_examples(diag_code_name(code));
  if (t->o.json)
    print_json(code, examples, &out);
  else
    print_text(code, examples, &out);
  int status = tool_write(t, strbuf_cstr(&out), out.len);
  strbuf_finish(&out);
  return status;
}
