// SPDX-License-Identifier: Apache-2.0
// Help texts from the tables of verbs and options, at most 80 columns wide.
#include "tools/options/option_values.h"

enum { WIDTH = 80, HELP_COLUMN = 26 };

static const struct group {
  const char *name, *title;
} groups[] = {
#define GROUP(name, title) {name, title},
#include "tools/options/groups.def"
#undef GROUP
};

// Appends the text from `column` on, with line breaks between words; further lines begin at
// `indent`.
static void put_wrapped(struct strbuf *out, size_t column, size_t indent, const char *suffix,
                        struct str text) {
  bool first = true;
  for (struct str rest = text, word; rest.ptr;) {
    rest = str_split(rest, ' ', &word);
    if (!word.len)
      continue;
    size_t room = WIDTH - (rest.ptr ? strlen(suffix) : 0);
    if (!first && column + 1 + word.len > room) {
      strbuf_printf(out, "%s\n%*s", suffix, (int)indent, "");
      column = indent;
    } else if (!first) {
      strbuf_putc(out, ' ');
      column++;
    }
    strbuf_put(out, word.ptr, word.len);
    column += word.len;
    first = false;
  }
  strbuf_putc(out, '\n');
}

// `  left    text`, the text in a column of its own.
static void put_row(struct strbuf *out, const char *left, const char *text) {
  size_t column = 2 + strlen(left);
  strbuf_printf(out, "  %s", left);
  if (column + 2 > HELP_COLUMN)
    strbuf_printf(out, "\n%*s", HELP_COLUMN, "");
  else
    strbuf_printf(out, "%*s", HELP_COLUMN - (int)column, "");
  put_wrapped(out, HELP_COLUMN, HELP_COLUMN, "", str_from(text));
}

static void put_option(struct strbuf *out, const struct option *o) {
  struct strbuf left = {.arena = out->arena};
  strbuf_printf(&left, "%s%s%s", o->spelling, o->argument ? " " : "",
                o->argument ? o->argument : "");
  put_row(out, strbuf_cstr(&left), o->help);
  strbuf_finish(&left);
}

static void put_group(struct strbuf *out, const struct group *g) {
  strbuf_printf(out, "\n%s\n", g->title);
  for (int i = 0; i < OPTION_COUNT; i++)
    if (strcmp(option_table[i].group, g->name) == 0)
      put_option(out, &option_table[i]);
}

// A command and what it does, `COMMAND  # COMMENT`, as two paragraphs.
static void put_examples(struct strbuf *out, const char *examples) {
  for (struct str rest = str_from(examples), line; rest.ptr;) {
    rest = str_split(rest, '\n', &line);
    if (!line.len)
      continue;
    size_t n = 0;
    while (n < line.len && !(line.ptr[n] == '#' && n && line.ptr[n - 1] == ' '))
      n++;
    struct str command = str_trim((struct str){line.ptr, n});
    if (n < line.len) {
      strbuf_puts(out, "  # ");
      struct str comment = {line.ptr + n + 1, line.len - n - 1};
      put_wrapped(out, 4, 4, "", comment);
    }
    strbuf_puts(out, "  ");
    put_wrapped(out, 2, 6, " \\", command);
  }
}

static void put_verbs(struct strbuf *out) {
  strbuf_puts(out, "\nVerbs\n");
  for (size_t i = 0; i < verb_count; i++) {
    const struct verb *v = &verb_table[i];
    struct strbuf left = {.arena = out->arena};
    strbuf_printf(&left, "%s%s%s%s%s", v->name, v->argument ? " " : "",
                  v->argument ? v->argument : "", *v->operands ? " " : "", v->operands);
    put_row(out, strbuf_cstr(&left), v->summary);
    strbuf_finish(&left);
  }
}

static void put_statuses(struct strbuf *out) {
  strbuf_puts(out, "\nExit status\n");
  static const struct {
    int number;
    const char *meaning;
  } rows[] = {
#define STATUS(id, number, meaning) {number, meaning},
#include "tools/options/exit_status.def"
#undef STATUS
  };
  for (size_t i = 0; i < COUNT_OF(rows); i++) {
    strbuf_printf(out, "  %3d  ", rows[i].number);
    put_wrapped(out, 7, 7, "", str_from(rows[i].meaning));
  }
}

void help_write_short(struct strbuf *out) {
  strbuf_puts(out,
              "tilec compiles and runs GPU kernels in the Triton language, and tensor graphs\n\n"
              "  tilec VERB [words] [options]\n"
              "  tilec FILE.tile [options]     the same as tilec compile\n");
  put_verbs(out);
  strbuf_puts(out,
              "\nExamples\n"
              "  tilec add.tile --target sm_90a --emit=ptx\n"
              "  tilec run add.tile --arg 'x=f32[1000]:rand(0)' --arg 'y=f32[1000]:rand(1)' \\\n"
              "      --arg 'out=f32[1000]:zeros' --arg n=1000 --grid 'cdiv(n,BLOCK)'\n"
              "  tilec graph model.py --run --check --target cpu\n"
              "  tilec explain E0201\n"
              "\n`tilec help VERB` has the options and examples of a verb, `tilec help --grid`\n"
              "one option, `tilec --help` everything. Verbs are options too: --run, --bench,\n"
              "--autotune, --graph, --layout, --tunings, --doctor, --list-passes, --explain.\n");
}

static void write_verb(const struct verb *v, struct strbuf *out) {
  strbuf_printf(out, "tilec %s%s%s%s%s [options]\n\n", v->name, v->argument ? " " : "",
                v->argument ? v->argument : "", *v->operands ? " " : "", v->operands);
  put_wrapped(out, 0, 0, "", str_from(v->summary));
  strbuf_puts(out, "\nExamples\n");
  put_examples(out, v->examples);
  for (struct str rest = str_from(v->groups), name; rest.ptr;) {
    rest = str_split(rest, ' ', &name);
    for (size_t g = 0; g < COUNT_OF(groups); g++)
      if (str_is(name, groups[g].name))
        put_group(out, &groups[g]);
  }
}

static void write_all(struct strbuf *out) {
  help_write_short(out);
  for (size_t g = 0; g < COUNT_OF(groups); g++)
    put_group(out, &groups[g]);
  put_statuses(out);
  strbuf_puts(out,
              "\nA word @FILE stands for the words of FILE. TILE_DEBUG=help lists tracing "
              "topics;\nTILE_CACHE_DIR sets the folder of the cache. The manual is tilec(1).\n");
}

// Markdown as text: links become their text.
static const char *without_links(struct arena *a, const char *markdown) {
  struct strbuf text = {.arena = a};
  for (const char *c = markdown, *close; *c; c++) {
    if (*c == '[' && (close = strstr(c, "](")) != NULL && !memchr(c, ' ', (size_t)(close - c))) {
      strbuf_put(&text, c + 1, (size_t)(close - c) - 1);
      while (*close != ')')
        close++;
      c = close;
    } else {
      strbuf_putc(&text, *c);
    }
  }
  return strbuf_cstr(&text);
}

static void write_option(const struct option *o, struct strbuf *out) {
  strbuf_printf(out, "%s%s%s\n\n  ", o->spelling, o->argument ? " " : "",
                o->argument ? o->argument : "");
  const char *text = *o->details ? without_links(out->arena, o->details) : o->help;
  put_wrapped(out, 2, 2, "", str_from(text));
}

bool help_write(const char *topic, struct strbuf *out) {
  if (!topic) {
    write_all(out);
    return true;
  }
  const struct verb *v = verb_find(str_from(topic));
  if (v) {
    write_verb(v, out);
    return true;
  }
  for (int i = 0; i < OPTION_COUNT; i++)
    if (strcmp(option_table[i].spelling, topic) == 0 ||
        (topic[0] != '-' && strlen(option_table[i].spelling) > 2 &&
         strcmp(option_table[i].spelling + 2, topic) == 0)) {
      write_option(&option_table[i], out);
      return true;
    }
  return false;
}

static int unknown_topic(struct tool *t, const char *topic) {
  struct diag *d =
      diag_error(t->diag, t->o.mode_at, E0702, "no verb and no option is called `%s`", topic);
  const char *near = verb_nearest(str_from(topic));
  if (near)
    diag_help(d, "did you mean `tilec help %s`?", near);
  else
    diag_help(d, "`tilec help` lists both");
  return EXIT_USAGE;
}

// `tilec help TOPIC`, `tilec VERB --help`, `tilec --help`, `tilec -h`, `tilec --run --help`.
int mode_help(struct tool *t) {
  const char *topic = NULL;
  if (t->o.mode == MODE_HELP)
    topic = t->o.mode_argument;
  else
    for (size_t i = 0; i < verb_count && !topic; i++)
      if (t->o.verb == &verb_table[i] ||
          (t->o.mode != MODE_COMPILE && t->o.mode == verb_table[i].mode))
        topic = verb_table[i].name;
  struct strbuf out = {.arena = t->arena};
  if (!topic && t->o.help != HELP_FULL)
    help_write_short(&out);
  else if (!help_write(topic, &out))
    return unknown_topic(t, topic ? topic : "");
  int status = tool_write(t, strbuf_cstr(&out), out.len);
  strbuf_finish(&out);
  return status;
}
