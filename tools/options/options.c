// SPDX-License-Identifier: Apache-2.0
// Parses the command line by a table: `tilec VERB words and options`, or a file and options.
// Options may come in any order; `--name=value` and `--name value` are the same, and so are
// `-Dname=value` and `-D name=value`.
#include "tools/options/option_values.h"

#include <ctype.h>
#include <string.h>

// Options of other compilers, by their beginnings.
static const char *foreign_option_help(struct str name) {
  static const struct {
    const char *begin, *help;
  } rows[] = {
      {"-O", "code is always optimised: leave it out"},
      {"-arch", "the GPU is named by `--target sm_90a`"},
      {"--gpu-arch", "the GPU is named by `--target sm_90a`"},
      {"-march", "code for the CPU is for this machine: leave it out"},
      {"-ptx", "write `--emit=ptx`"},
      {"-cubin", "write `--emit=cubin`"},
      {"-S", "write `--emit=ptx`, or `--emit=llvm`"},
      {"-c", "write `--emit=object`, or `--emit=cubin` for a GPU"},
      {"-g", "PTX always names its lines; `TILE_DEBUG=gdb` is for gdb on the CPU"},
      {"-G", "PTX always names its lines; `TILE_DEBUG=gdb` is for gdb on the CPU"},
      {"-lineinfo", "PTX always names its lines: leave it out"},
      {"-v", "write `--verbose`"},
      {"-q", "write `--quiet`"},
      {"-l", "kernels link no libraries: leave it out"},
      {"-maxrregcount", "write `--max-registers N`"},
      {"--maxrregcount", "write `--max-registers N`"},
      {"-j", "one kernel is compiled at a time: leave it out"},
  };
  const char *found = NULL;
  size_t longest = 0;
  for (size_t i = 0; i < COUNT_OF(rows); i++) {
    size_t n = strlen(rows[i].begin);
    bool whole = n > 2 || name.len == 2 || isdigit((unsigned char)name.ptr[2]); // `-O2`, not `-Old`
    if (n > longest && str_starts(name, rows[i].begin) && whole)
      found = rows[i].help, longest = n;
  }
  return found;
}

static bool unknown_option(struct tool *t, struct str word, struct span where) {
  struct str name;
  (void)str_split(word, '=', &name);
  struct diag *d = diag_error(t->diag, where, E0701, "unknown option `%.*s`", STR_ARG(name));
  const char *near = option_nearest(name), *foreign = foreign_option_help(name);
  if (foreign) {
    diag_help(d, "%s", foreign);
  } else if (near) {
    struct span at = {where.source, where.begin, where.begin + (uint32_t)name.len};
    diag_did_you_mean(d, at, near);
  } else {
    diag_help(d, "`tilec --help` lists the options");
  }
  return false;
}

// The quote that a shell needs around the word; 0: none, or the word has both.
static char quote_of(const char *word) {
  static const char plain[] = "_@%+=:,./-";
  bool is_plain = *word != 0;
  for (const char *p = word; *p; p++)
    is_plain &= isalnum((unsigned char)*p) || strchr(plain, *p);
  return is_plain ? 0 : !strchr(word, '\'') ? '\'' : !strpbrk(word, "\"$`\\!") ? '"' : 0;
}

// The words joined by blanks, quoted as for a shell; starts[i] is the offset of word i.
static void join_words(struct tool *t, int argc, char **argv, uint32_t *starts) {
  struct strbuf line = {.arena = t->arena};
  for (int i = 0; i < argc; i++) {
    const char *word = i ? argv[i] : "tilec";
    char quote = quote_of(word);
    if (i)
      strbuf_putc(&line, ' ');
    if (quote)
      strbuf_putc(&line, quote);
    starts[i] = (uint32_t)line.len;
    strbuf_puts(&line, word);
    if (quote)
      strbuf_putc(&line, quote);
  }
  t->command_line = source_create(t->arena, "command line", str_from(strbuf_cstr(&line)));
  strbuf_finish(&line);
}

// `tilec VERB`: the mode, and for `graph` that files are graphs.
static bool take_verb(struct tool *t, const char *word, struct span where) {
  const struct verb *v = verb_find(str_from(word));
  if (!v)
    return false;
  t->o.verb = v;
  t->o.mode_at = where;
  t->o.mode = v->mode;
  if (v->mode == MODE_GRAPH) { // --run, --bench and --emit say what to do with it
    t->o.graph = true;
    t->o.mode = MODE_COMPILE;
  }
  return true;
}

// A word that is no option: the verb's argument, a further word of a layout's SPEC, or a file.
static void take_word(struct tool *t, const char *word, struct span where) {
  struct options *o = &t->o;
  bool of_verb = o->verb && o->verb->argument && !o->mode_argument;
  if (of_verb) {
    o->mode_argument = word;
    o->mode_at = where;
  } else if (o->mode == MODE_LAYOUT) {
    o->mode_argument = arena_printf(t->arena, "%s %s", o->mode_argument, word);
  } else {
    option_take_file(t, word, where);
  }
}

// Whether the option has a value if its row has an argument, and only then.
static bool check_value(struct tool *t, const struct given *g) {
  const struct option *o = &option_table[g->id];
  if (o->argument && !g->value.ptr)
    return option_usage(
        t, g->where, E0702,
        arena_printf(t->arena, "`%s` wants %s after it", o->spelling, o->argument),
        arena_printf(t->arena, "%s; `tilec help %s` says more", o->help, o->spelling));
  return o->argument || !g->value.ptr ||
         option_usage(t, g->where, E0702,
                      arena_printf(t->arena, "`%s` takes no value", o->spelling), NULL);
}

// The option at argv[*i], which is advanced to a value that is a word of its own.
static bool take_option(struct tool *t, int argc, char **argv, const uint32_t *starts, int *i) {
  struct str word = str_from(argv[*i]);
  struct given g = {.where = {t->command_line, starts[*i], starts[*i] + (uint32_t)word.len}};
  if (!option_find(word, &g.id, &g.value))
    return unknown_option(t, word, g.where);
  if (option_table[g.id].argument && !g.value.ptr && *i + 1 < argc) {
    ++*i;
    g.value = str_from(argv[*i]);
    g.where = (struct span){t->command_line, starts[*i], starts[*i] + (uint32_t)g.value.len};
  } else if (g.value.ptr) {
    g.where.begin = g.where.end - (uint32_t)g.value.len;
  }
  return check_value(t, &g) && option_table[g.id].set(t, &g);
}

static bool is_topic(const struct tool *t, struct str word) { // `tilec help --grid`
  return t->o.mode == MODE_HELP && word.len > 1 && word.ptr[0] == '-' && !t->o.mode_argument;
}

bool options_parse(struct tool *t, int argc, char **argv) {
  t->o.effort = TUNE_EFFORT_QUICK;
  if (!response_files_expand(t, &argc, &argv))
    return false;
  uint32_t *starts = arena_array(t->arena, uint32_t, (size_t)argc + 1);
  join_words(t, argc, argv, starts);
  bool ok = true;
  for (int i = 1; i < argc; i++) {
    struct str word = str_from(argv[i]);
    struct span where = {t->command_line, starts[i], starts[i] + (uint32_t)word.len};
    if (i == 1 && take_verb(t, argv[i], where))
      continue;
    if (word.len < 2 || word.ptr[0] != '-' || is_topic(t, word))
      take_word(t, argv[i], where);
    else if (!take_option(t, argc, argv, starts, &i))
      ok = false;
  }
  return ok && (t->o.help != HELP_NONE || options_check(t));
}
