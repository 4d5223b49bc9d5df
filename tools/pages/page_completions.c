// SPDX-License-Identifier: Apache-2.0
// Completions for bash, zsh and fish: verbs, options, and the values of options.
#include "tools/pages/pages.h"

#define LICENCE                                                                                    \
  "# SPDX-License-Identifier: Apache-2.0\n# Made from the tables of options and verbs.\n"

// What the word after the verb may be, besides options; NULL: a file.
static const char *verb_values(struct arena *a, const struct page_verb *v) {
  if (!v->argument)
    return NULL;
  struct strbuf names = {.arena = a};
  if (strcmp(v->name, "help") == 0)
    for (const struct page_verb *other = page_verbs; other->name; other++)
      strbuf_printf(&names, "%s%s", names.len ? " " : "", other->name);
  for (const struct page_option *o = page_options; o->spelling && !names.len; o++)
    if (strncmp(o->spelling, "--", 2) == 0 && strcmp(o->spelling + 2, v->name) == 0)
      return page_values(a, o);
  return names.len ? strbuf_cstr(&names) : NULL;
}

static void put_verb_names(struct strbuf *out) {
  for (const struct page_verb *v = page_verbs; v->name; v++)
    strbuf_printf(out, "%s%s", v == page_verbs ? "" : " ", v->name);
}

static void put_spellings(struct strbuf *out) {
  for (const struct page_option *o = page_options; o->spelling; o++)
    strbuf_printf(out, "%s%s", o == page_options ? "" : " ", o->spelling);
}

// ---- bash ----

void page_bash(struct strbuf *out) {
  strbuf_puts(out,
              LICENCE "_tilec() {\n"
                      "  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]}\n"
                      "  local values= files=1\n"
                      "  COMPREPLY=()\n"
                      "  # bash splits `--name=value` into three words.\n"
                      "  [ \"$word\" = = ] && word= && before=${COMP_WORDS[COMP_CWORD-1]}\n"
                      "  [ \"$before\" = = ] && before=${COMP_WORDS[COMP_CWORD-2]}\n"
                      "  case $before in\n");
  for (const struct page_option *o = page_options; o->spelling; o++) {
    const char *values = page_values(out->arena, o);
    if (values)
      strbuf_printf(out, "    %s) values='%s' files= ;;\n", o->spelling, values);
  }
  for (const struct page_verb *v = page_verbs; v->name; v++) {
    const char *values = verb_values(out->arena, v);
    if (values)
      strbuf_printf(out, "    %s) [ $COMP_CWORD = 2 ] && values='%s' files= ;;\n", v->name, values);
  }
  strbuf_puts(out, "  esac\n  if [ -z \"$values\" ]; then\n    case $word in\n      -*) values='");
  put_spellings(out);
  strbuf_puts(out, "' ;;\n      *) [ $COMP_CWORD = 1 ] && values='");
  put_verb_names(out);
  strbuf_puts(out, "' ;;\n    esac\n  fi\n"
                   "  [ -z \"$values\" ] || COMPREPLY=($(compgen -W \"$values\" -- \"$word\"))\n"
                   "  [ -z \"$files\" ] || COMPREPLY+=($(compgen -f -- \"$word\"))\n"
                   "}\ncomplete -o filenames -F _tilec tilec\n");
}

// ---- zsh ----

// Within '...' of _arguments: brackets, colons and quotes are escaped.
static void put_zsh(struct strbuf *out, const char *text) {
  for (; *text; text++)
    if (*text == '\'')
      strbuf_puts(out, "'\\''");
    else if (*text == '[' || *text == ']' || *text == ':' || *text == '\\')
      strbuf_printf(out, "\\%c", *text);
    else
      strbuf_putc(out, *text);
}

void page_zsh(struct strbuf *out) {
  strbuf_puts(out, "#compdef tilec\n" LICENCE "_tilec_word() {\n"
                   "  if (( CURRENT == 2 )); then\n    compadd -- ");
  put_verb_names(out);
  strbuf_puts(out, "\n  else\n    case $words[2] in\n");
  for (const struct page_verb *v = page_verbs; v->name; v++) {
    const char *values = verb_values(out->arena, v);
    if (values)
      strbuf_printf(out, "      %s) compadd -- %s ;;\n", v->name, values);
  }
  strbuf_puts(out, "    esac\n  fi\n  _files\n}\n_arguments -S \\\n");
  for (const struct page_option *o = page_options; o->spelling; o++) {
    const char *values = page_values(out->arena, o);
    bool is_long = strlen(o->spelling) > 2;
    strbuf_printf(out, "  '*%s%s[", o->spelling, !o->argument ? "" : is_long ? "=" : "+");
    put_zsh(out, o->help);
    strbuf_putc(out, ']');
    if (o->argument) {
      strbuf_putc(out, ':');
      put_zsh(out, o->argument);
      strbuf_putc(out, ':');
      if (values) {
        strbuf_putc(out, '(');
        put_zsh(out, values);
        strbuf_putc(out, ')');
      } else if (page_is_file(o))
        strbuf_puts(out, "_files");
    }
    strbuf_puts(out, "' \\\n");
  }
  strbuf_puts(out, "  '*:word:_tilec_word'\n");
}

// ---- fish ----

static void put_fish(struct strbuf *out, const char *text) {
  strbuf_putc(out, '\'');
  for (; *text; text++) {
    if (*text == '\'' || *text == '\\')
      strbuf_putc(out, '\\');
    strbuf_putc(out, *text);
  }
  strbuf_putc(out, '\'');
}

void page_fish(struct strbuf *out) {
  strbuf_puts(out, LICENCE);
  for (const struct page_verb *v = page_verbs; v->name; v++) {
    const char *values = verb_values(out->arena, v);
    strbuf_printf(out, "complete -c tilec -n __fish_use_subcommand -a %s -d ", v->name);
    put_fish(out, v->summary);
    strbuf_putc(out, '\n');
    if (values)
      strbuf_printf(out, "complete -c tilec -n '__fish_seen_subcommand_from %s' -a '%s'\n", v->name,
                    values);
  }
  for (const struct page_option *o = page_options; o->spelling; o++) {
    const char *values = page_values(out->arena, o);
    bool is_long = strlen(o->spelling) > 2;
    strbuf_printf(out, "complete -c tilec %s %s -d ", is_long ? "-l" : "-s",
                  o->spelling + (is_long ? 2 : 1));
    put_fish(out, o->help);
    if (values)
      strbuf_printf(out, " -x -a '%s'", values);
    else if (o->argument)
      strbuf_puts(out, page_is_file(o) ? " -r" : " -x");
    strbuf_putc(out, '\n');
  }
}
