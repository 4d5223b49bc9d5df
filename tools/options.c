// SPDX-License-Identifier: Apache-2.0
// Parses the command line by a table. Options may come in any order; `--name=value` and `--name
// value` are the same, and so are `-Dname=value` and `-D name=value`.
#include "tools/option_values.h"

#include <stdio.h>

const struct option option_table[] = {
#define OPTION(id, spelling, argument, group, help) {spelling, argument, group, help},
#include "tools/options.def"
#undef OPTION
};

static const char *const spellings[] = {
#define OPTION(id, spelling, argument, group, help) spelling,
#include "tools/options.def"
#undef OPTION
};

// Finds the option of a word; *ret_value is the text after '=' (or directly after -D, -o).
static bool find_option(struct str word, enum option_id *ret, struct str *ret_value) {
  struct str head, tail = str_split(word, '=', &head);
  for (int i = 0; i < OPTION_COUNT; i++) {
    struct str s = str_from(option_table[i].spelling);
    bool is_short = s.len == 2;
    *ret = (enum option_id)i;
    if (is_short && word.len > 2 && str_starts(word, s.ptr)) {
      *ret_value = (struct str){word.ptr + 2, word.len - 2};
      return true;
    }
    if (str_eq(is_short ? word : head, s)) {
      *ret_value = is_short ? (struct str){0} : tail;
      return true;
    }
  }
  return false;
}

static bool unknown_option(struct tool *t, struct str word, struct span where) {
  struct str name;
  (void)str_split(word, '=', &name);
  struct diag *d = diag_error(t->diag, where, E0701, "unknown option `%.*s`", STR_ARG(name));
  const char *near = str_nearest(name, spellings, COUNT_OF(spellings));
  if (near)
    diag_help(d, "did you mean `%s`?", near);
  else
    diag_help(d, "`tilec --help` lists the options");
  return false;
}

// The words joined by blanks; starts[i] is the offset of word i.
static void join_words(struct tool *t, int argc, char **argv, uint32_t *starts) {
  struct strbuf line = {.arena = t->arena};
  for (int i = 0; i < argc; i++) {
    if (i)
      strbuf_putc(&line, ' ');
    starts[i] = (uint32_t)line.len;
    strbuf_puts(&line, i ? argv[i] : "tilec");
  }
  t->command_line = source_create(t->arena, "command line", str_from(strbuf_cstr(&line)));
  strbuf_finish(&line);
}

bool options_parse(struct tool *t, int argc, char **argv) {
  t->o.effort = TUNE_EFFORT_QUICK;
  uint32_t *starts = arena_array(t->arena, uint32_t, (size_t)argc + 1);
  join_words(t, argc, argv, starts);
  bool ok = true;
  for (int i = 1; i < argc; i++) {
    struct str word = str_from(argv[i]);
    struct given g = {0};
    g.where = (struct span){t->command_line, starts[i], starts[i] + (uint32_t)word.len};
    if (word.len < 2 || word.ptr[0] != '-') {
      if (t->o.mode == MODE_LAYOUT) // the SPEC may be several words
        t->o.mode_argument = arena_printf(t->arena, "%s %s", t->o.mode_argument, argv[i]);
      else
        option_take_file(t, argv[i], g.where);
      continue;
    }
    if (!find_option(word, &g.id, &g.value)) {
      ok = unknown_option(t, word, g.where);
      continue;
    }
    if (option_table[g.id].argument && !g.value.ptr && i + 1 < argc) {
      i++;
      g.value = str_from(argv[i]);
      g.where = (struct span){t->command_line, starts[i], starts[i] + (uint32_t)g.value.len};
    } else if (g.value.ptr) {
      g.where.begin = g.where.end - (uint32_t)g.value.len;
    }
    if (option_table[g.id].argument && !g.value.ptr) {
      ok = option_usage(t, g.where, E0702,
                        arena_printf(t->arena, "`%s` wants %s after it",
                                     option_table[g.id].spelling, option_table[g.id].argument),
                        NULL);
      continue;
    }
    if (!option_table[g.id].argument && g.value.ptr) {
      ok = option_usage(t, g.where, E0702,
                        arena_printf(t->arena, "`%s` takes no value", option_table[g.id].spelling),
                        NULL);
      continue;
    }
    ok &= option_apply(t, &g);
  }
  return ok && options_check(t);
}

void options_help(struct strbuf *out) {
  strbuf_puts(
      out, "tilec: compiles .tile kernels (the Triton kernel language) to PTX and runs them\n"
           "\n"
           "  tilec add.tile --target sm_90a --emit=ptx          compile to standard output\n"
           "  tilec --run add.tile --arg x='f32[1000]:rand(0)' --arg y='f32[1000]:rand(1)' \\\n"
           "        --arg out='f32[1000]:zeros' --arg n=1000 --grid 'cdiv(n,BLOCK)' -D BLOCK=1024\n"
           "  tilec --bench add.tile ...                         the same arguments, timed\n"
           "  tilec --autotune add.tile ...                      the same arguments, finds the "
           "best block sizes\n"
           "  tilec --graph model.py --emit=graph                read a tensor graph of PyTorch\n"
           "  tilec --layout 'mma_v2 16x8'                       draw a layout\n"
           "  tilec --explain E0201                              explain a diagnostic\n"
           "  tilec lsp                                          serve an editor\n");
  static const struct {
    const char *group, *title;
  } groups[] = {{"mode", "Modes (without one: compile)"},
                {"compile", "Compiling"},
                {"ahead", "Packs and C (--emit=pack, header, c)"},
                {"run", "Running (--run, --bench, --autotune)"},
                {"bench", "Timing (--bench)"},
                {"autotune", "Tuning (--autotune)"},
                {"inside", "Debugging and reports"},
                {"output", "Messages and results"}};
  for (size_t g = 0; g < COUNT_OF(groups); g++) {
    strbuf_printf(out, "\n%s\n", groups[g].title);
    for (int i = 0; i < OPTION_COUNT; i++) {
      if (strcmp(option_table[i].group, groups[g].group) != 0)
        continue;
      char left[64];
      snprintf(left, sizeof(left), "%s%s%s", option_table[i].spelling,
               option_table[i].argument ? " " : "",
               option_table[i].argument ? option_table[i].argument : "");
      strbuf_printf(out, strlen(left) > 30 ? "  %s\n  %31s%s\n" : "  %-31s%s%s\n", left, "",
                    option_table[i].help);
    }
  }
  strbuf_puts(
      out,
      "\nExit status: 0 done; 1 wrong input or failed comparison; 2 usage; 69 no such device;\n"
      "70 internal error; 73 output cannot be written; 74 read or write failed; 75 a limit was "
      "reached;\n130, 143 tuning was interrupted, the best so far is written.\n"
      "TILE_DEBUG=help lists tracing topics; TILE_CACHE_DIR sets the cache's folder.\n");
}
