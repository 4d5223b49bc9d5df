// SPDX-License-Identifier: Apache-2.0
// Shared by all modes: reads the source, writes the result, maps recorded errors to the exit
// status.
#include "base/file.h"
#include "tools/file_help.h"
#include "tools/foreign_file.h"
#include "tools/options/option_values.h"
#include "tools/progress.h"
#include "tools/reproducer.h"

#include <errno.h>

struct source *tool_source(struct tool *t, int *ret_status) {
  struct str text;
  if (!t->o.file) {
    diag_help(diag_error(t->diag, SPAN_NONE, E0703, "no input file"),
              t->o.graph
                  ? "name a graph as PyTorch prints it: `tilec graph model.py --run`"
                  : "name a .tile file: `tilec add.tile --emit=ptx`; `tilec --help` shows more");
    *ret_status = EXIT_USAGE;
    return NULL;
  }
  int error = file_read(t->arena, t->o.file, SOURCE_MAX_BYTES, &text);
  enum foreign_use use = t->o.graph                 ? FOREIGN_GRAPH
                         : t->o.mode == MODE_REPORT ? FOREIGN_EITHER
                                                    : FOREIGN_SOURCE;
  if (error == 0 && foreign_report(t->diag, t->o.file_at, t->o.file, text, use)) {
    *ret_status = EXIT_WRONG;
    return NULL;
  }
  if (error == 0) {
    struct source *source = source_create(t->arena, t->o.file, text);
    reproducer_input(source);
    return source;
  }
  *ret_status = error == EFBIG || error == ENOMEM ? EXIT_LIMIT
                : error == ENOENT                 ? EXIT_WRONG
                                                  : EXIT_IO;
  if (error == ENOENT) {
    struct diag *d = diag_error(t->diag, t->o.file_at, E0710, "no such file: `%s`", t->o.file);
    const char *verb = t->o.verb ? NULL : verb_nearest(str_from(t->o.file));
    if (verb)
      diag_help(d, "did you mean `tilec %s`?", verb);
    else
      file_help(t->arena, d, t->o.file, t->o.file_at);
  } else if (error == EFBIG)
    diag_error(t->diag, t->o.file_at, E0901, "`%s` is larger than %u MiB", t->o.file,
               SOURCE_MAX_BYTES >> 20);
  else if (error == ENOMEM)
    diag_error(t->diag, t->o.file_at, E0991, "out of memory for `%s`", t->o.file);
  else if (error == EISDIR)
    diag_help(diag_error(t->diag, t->o.file_at, E0710, "`%s` is a folder, not a file", t->o.file),
              "name a file in it: a `.tile` file, or a graph for `tilec graph`");
  else
    diag_error(t->diag, t->o.file_at, E0710, "cannot read `%s`: %s", t->o.file, strerror(error));
  return NULL;
}

// Where the command line has the text, as a word's end; SPAN_NONE: nowhere.
static struct span word_of(const struct tool *t, const char *text) {
  struct str line = t->command_line ? t->command_line->text : (struct str){NULL, 0};
  size_t n = strlen(text);
  for (size_t i = 1; n && i + n <= line.len; i++) {
    char before = line.ptr[i - 1], behind = i + n < line.len ? line.ptr[i + n] : ' ';
    if (memcmp(line.ptr + i, text, n) == 0 && strchr(" ='\"", before) && strchr(" '\"", behind))
      return (struct span){t->command_line, (uint32_t)i, (uint32_t)(i + n)};
  }
  return SPAN_NONE;
}

int tool_cannot_write(struct tool *t, struct span at, const char *path, int error) {
  if (!at.source)
    at = word_of(t, path);
  if (error == ENOMEM) {
    diag_error(t->diag, at, E0991, "out of memory for `%s`", path);
    return EXIT_LIMIT;
  }
  struct diag *d = diag_error(t->diag, at, E0711, "cannot write `%s`: %s", path, strerror(error));
  if (error == ENOENT)
    diag_help(d, "its folder does not exist: make it by `mkdir -p`, or name another one");
  else if (error == EISDIR)
    diag_help(d, "it is a folder: name a file in it");
  else if (error == EACCES)
    diag_help(d, "the file or its folder may not be written: name another place, such as `/tmp`");
  return EXIT_CANNOT_WRITE;
}

int tool_write(struct tool *t, const void *data, size_t size) {
  progress_end();
  const char *path = t->o.output ? t->o.output : "-";
  int error = file_write(path, data, size);
  return error ? tool_cannot_write(t, SPAN_NONE, path, error) : EXIT_DONE;
}

const char *tool_device_name(struct tool *t) {
  const char *target = t->o.target;
  if (!target)
    return "auto";
  if (t->o.simulate)
    return arena_printf(t->arena, "simulate:%s", target);
  return strcmp(target, "cpu") == 0 ? "cpu" : "cuda"; // code for another GPU is not run
}

int tool_error_status(const struct tool *t) {
  enum diag_code code = diag_first_error_code(t->diag);
  if (code == E0990)
    return EXIT_INTERNAL;
  return diag_code_is_limit(code) || code == E0991 ? EXIT_LIMIT : EXIT_WRONG;
}
