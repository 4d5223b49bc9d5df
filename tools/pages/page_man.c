// SPDX-License-Identifier: Apache-2.0
// tilec(1), in the macros of man(7).
#include "tools/pages/pages.h"

static void put_escaped(struct strbuf *out, const char *text, size_t n) {
  for (size_t i = 0; i < n; i++)
    if (text[i] == '-')
      strbuf_puts(out, "\\-");
    else if (text[i] == '\\')
      strbuf_puts(out, "\\e");
    else if ((text[i] == '.' || text[i] == '\'') && (i == 0 || text[i - 1] == '\n'))
      strbuf_printf(out, "\\&%c", text[i]);
    else
      strbuf_putc(out, text[i]);
}

static void put_text(struct strbuf *out, const char *text) { put_escaped(out, text, strlen(text)); }

// Markdown of one paragraph: `code` becomes bold, a link its text.
static void put_markdown(struct strbuf *out, const char *text) {
  bool is_code = false;
  for (const char *c = text; *c; c++) {
    const char *close = *c == '[' && !is_code ? strstr(c, "](") : NULL;
    if (*c == '`') {
      is_code = !is_code;
      strbuf_puts(out, is_code ? "\\fB" : "\\fR");
    } else if (close && !memchr(c, ' ', (size_t)(close - c))) {
      put_escaped(out, c + 1, (size_t)(close - c) - 1);
      c = strchr(close, ')');
    } else if (c != text && (*c == '.' || *c == '\'')) {
      strbuf_putc(out, *c); // only at the start of a line these begin a request
    } else {
      put_escaped(out, c, 1);
    }
  }
  strbuf_putc(out, '\n');
}

static void put_options(struct strbuf *out, const struct page_group *g) {
  strbuf_puts(out, ".SS ");
  put_text(out, g->title);
  strbuf_putc(out, '\n');
  for (const struct page_option *o = page_options; o->spelling; o++) {
    if (strcmp(o->group, g->name) != 0)
      continue;
    strbuf_puts(out, ".TP\n\\fB");
    put_text(out, o->spelling);
    strbuf_puts(out, "\\fR");
    if (o->argument) {
      strbuf_puts(out, " \\fI");
      put_text(out, o->argument);
      strbuf_puts(out, "\\fR");
    }
    strbuf_putc(out, '\n');
    put_markdown(out, *o->details ? o->details : o->help);
  }
}

static void put_verbs(struct strbuf *out) {
  strbuf_puts(out, ".SH VERBS\n");
  for (const struct page_verb *v = page_verbs; v->name; v++) {
    strbuf_puts(out, ".TP\n\\fB");
    put_text(out, v->name);
    strbuf_printf(out, "\\fR%s%s%s%s\n", v->argument ? " " : "", v->argument ? v->argument : "",
                  *v->operands ? " " : "", v->operands);
    put_text(out, v->summary);
    strbuf_putc(out, '\n');
  }
}

// A line `COMMAND   # COMMENT` as a comment and a command that is not filled.
static void put_examples(struct strbuf *out) {
  strbuf_puts(out, ".SH EXAMPLES\n");
  for (const struct page_verb *v = page_verbs; v->name; v++)
    for (struct str rest = str_from(v->examples), line; rest.ptr;) {
      rest = str_split(rest, '\n', &line);
      size_t n = 0;
      while (n < line.len && !(line.ptr[n] == '#' && n && line.ptr[n - 1] == ' '))
        n++;
      struct str command = str_trim((struct str){line.ptr, n});
      if (!command.len)
        continue;
      strbuf_puts(out, ".PP\n");
      if (n < line.len)
        put_escaped(out, line.ptr + n + 2, line.len - n - 2);
      else
        put_text(out, v->summary);
      strbuf_puts(out, ":\n.PP\n.nf\n.RS 4\n");
      put_escaped(out, command.ptr, command.len);
      strbuf_puts(out, "\n.RE\n.fi\n");
    }
}

static void put_rows(struct strbuf *out, const char *title, const struct page_row *rows) {
  strbuf_printf(out, ".SH %s\n", title);
  for (; rows->name; rows++) {
    strbuf_puts(out, ".TP\n\\fB");
    put_text(out, rows->name);
    strbuf_puts(out, "\\fR\n");
    put_markdown(out, rows->text);
  }
}

void page_man(const char *version, struct strbuf *out) {
  strbuf_printf(out,
                ".\\\" SPDX-License-Identifier: Apache-2.0\n"
                ".\\\" Made from the tables of options and verbs.\n"
                ".TH TILEC 1 \"\" \"tilec %s\" \"User Commands\"\n",
                version);
  strbuf_puts(out, ".SH NAME\ntilec \\- compile and run GPU kernels and tensor graphs\n"
                   ".SH SYNOPSIS\n.B tilec\n.I verb\n.RI [ word ...]\n.RI [ options ]\n.br\n"
                   ".B tilec\n.I file.tile\n.RI [ options ]\n"
                   ".SH DESCRIPTION\n"
                   "Compiles kernels in the Triton language, and tensor graphs as PyTorch prints\n"
                   "them, to code for GPUs and CPUs, and runs, times and tunes it.\n"
                   ".PP\n"
                   "Options may have any order, before and after files.\n"
                   "\\fB\\-\\-name value\\fR and \\fB\\-\\-name=value\\fR are equivalent.\n"
                   "Results go to standard output, messages to standard error.\n"
                   "A file named \\fB\\-\\fR is standard input or output.\n"
                   "A word \\fB@FILE\\fR stands for the words of that file: blanks separate them,\n"
                   "quotes and backslashes keep blanks, and \\fB#\\fR begins a comment.\n");
  put_verbs(out);
  strbuf_puts(out, ".SH OPTIONS\n");
  for (const struct page_group *g = page_groups; g->name; g++)
    put_options(out, g);
  put_rows(out, "EXIT STATUS", page_statuses);
  put_rows(out, "ENVIRONMENT", page_environment);
  put_examples(out);
}
