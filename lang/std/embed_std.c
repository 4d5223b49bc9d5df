// SPDX-License-Identifier: Apache-2.0
// Build tool: writes the functions of lang/std/*.tile as a C table sorted by name, so that the
// library is part of the compiler and each function is found and parsed alone. A function is the
// text from its `def` at the beginning of a line, or the decorator above it, to the next line that
// is neither indented nor a comment. Usage: embed OUTPUT INPUT...
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct function {
  char *name;
  const char *file;
  const char *params; // from the opening bracket on
  char *text;
  size_t len;
};

struct table {
  struct function *at;
  size_t len, cap;
};

static char *read_all(const char *path) {
  FILE *in = fopen(path, "rb");
  if (!in || fseek(in, 0, SEEK_END) != 0)
    return NULL;
  long size = ftell(in);
  char *text = size >= 0 ? calloc((size_t)size + 1, 1) : NULL;
  rewind(in);
  if (text && fread(text, 1, (size_t)size, in) != (size_t)size)
    text = NULL;
  fclose(in);
  return text;
}

static const char *base_name(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash ? slash + 1 : path;
}

static char *next_line(char *p) {
  char *end = strchr(p, '\n');
  return end ? end + 1 : p + strlen(p);
}

// The end of the function that begins at p: after its last indented line.
static char *function_end(char *p) {
  char *end = next_line(p);
  for (char *line = end; *line; line = next_line(line)) {
    if (*line == ' ')
      end = next_line(line);
    else if (*line != '\n' && *line != '#' && *line != ')')
      break;
  }
  return end;
}

// `first` is the start of the text, `def` its line with `def`.
static bool add(struct table *t, const char *file, char *first, char *def) {
  if (t->len == t->cap) {
    t->cap = t->cap ? t->cap * 2 : 64;
    t->at = realloc(t->at, t->cap * sizeof *t->at);
    if (!t->at)
      return false;
  }
  char *name = def + 4;
  size_t len = strcspn(name, "(");
  struct function f = {calloc(len + 1, 1), file, name + len, first,
                       (size_t)(function_end(def) - first)};
  if (!f.name)
    return false;
  memcpy(f.name, name, len);
  t->at[t->len++] = f;
  return true;
}

static int by_name(const void *a, const void *b) {
  return strcmp(((const struct function *)a)->name, ((const struct function *)b)->name);
}

// The end of the parameter at p: its comma, or the bracket that closes the list.
static const char *param_end(const char *p) {
  for (int depth = 0; *p; p++) {
    if (depth == 0 && (*p == ',' || *p == ')'))
      break;
    depth += strchr("([{", *p) ? 1 : strchr(")]}", *p) ? -1 : 0;
  }
  return p;
}

// `(x, axis: constexpr = 0, *rest)` as "x axis= *rest".
static void write_params(FILE *out, const char *list) {
  const char *p = list + 1, *between = "";
  while (*(p += strspn(p, " \n,")) && *p != ')') {
    const char *end = param_end(p);
    bool is_optional = memchr(p, '=', (size_t)(end - p));
    fprintf(out, "%s%.*s%s", between, (int)strcspn(p, " ,:=)"), p, is_optional ? "=" : "");
    between = " ";
    p = end;
  }
}

static int write_table(FILE *out, const struct table *t) {
  fprintf(out, "// Made by embed from lang/std/*.tile.\n#include \"lang/std/std_table.h\"\n\n"
               "static const char text[] = {");
  size_t count = 0;
  for (size_t i = 0; i < t->len; i++)
    for (size_t k = 0; k < t->at[i].len; k++, count++)
      fprintf(out, "%s%d,", count % 20 == 0 ? "\n" : "", (unsigned char)t->at[i].text[k]);
  fprintf(out, "0};\nconst struct std_row std_table[] = {\n");
  size_t offset = 0;
  for (size_t i = 0; i < t->len; offset += t->at[i].len, i++) {
    fprintf(out, "  {\"%s\", \"", t->at[i].name);
    write_params(out, t->at[i].params);
    fprintf(out, "\", \"std/%s\", text + %zu, %zu},\n", t->at[i].file, offset, t->at[i].len);
  }
  fprintf(out, "};\nconst size_t std_table_len = %zu;\n", t->len);
  return ferror(out) ? 1 : 0;
}

int main(int argc, char **argv) {
  static struct table t; // in use until the program ends
  for (int i = 2; i < argc; i++) {
    char *text = read_all(argv[i]);
    if (!text) {
      perror(argv[i]);
      return 1;
    }
    for (char *line = text, *before = text; *line; before = line, line = next_line(line))
      if (strncmp(line, "def ", 4) == 0 &&
          !add(&t, base_name(argv[i]), *before == '@' ? before : line, line))
        return 1;
  }
  if (argc < 3 || t.len == 0) {
    fputs("usage: embed OUTPUT INPUT...\n", stderr);
    return 2;
  }
  qsort(t.at, t.len, sizeof *t.at, by_name);
  for (size_t i = 1; i < t.len; i++)
    if (strcmp(t.at[i - 1].name, t.at[i].name) == 0) {
      fprintf(stderr, "%s: `%s` also stands in %s\n", t.at[i].file, t.at[i].name, t.at[i - 1].file);
      return 1;
    }
  FILE *out = fopen(argv[1], "wb");
  if (!out) {
    perror(argv[1]);
    return 1;
  }
  int status = write_table(out, &t);
  return fclose(out) != 0 ? 1 : status;
}
