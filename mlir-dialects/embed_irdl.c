// SPDX-License-Identifier: Apache-2.0
// Build tool: writes a text file as a C array, so that the dialect definition is part of the
// library. Usage: embed INPUT OUTPUT NAME
#include <stdio.h>
#include <string.h>

static int usage(void) {
  fputs("usage: embed INPUT OUTPUT NAME\n", stderr);
  return 2;
}

static int embed(FILE *in, FILE *out, const char *name) {
  fprintf(out, "// Made by embed from a text file.\n#include <stddef.h>\n");
  fprintf(out, "extern const char %s[];\nextern const size_t %s_len;\n", name, name);
  fprintf(out, "const char %s[] = {", name);
  size_t count = 0;
  for (int byte; (byte = fgetc(in)) != EOF; count++)
    fprintf(out, "%s%d,", count % 20 == 0 ? "\n" : "", (signed char)byte);
  fprintf(out, "0};\nconst size_t %s_len = %zu;\n", name, count);
  return ferror(in) || ferror(out) ? 1 : 0;
}

int main(int argc, char **argv) {
  if (argc != 4)
    return usage();
  FILE *in = fopen(argv[1], "rb");
  FILE *out = in ? fopen(argv[2], "wb") : NULL;
  int status = 1;
  if (out)
    status = embed(in, out, argv[3]);
  else
    perror(in ? argv[2] : argv[1]);
  if (out && fclose(out) != 0)
    status = 1;
  if (in)
    fclose(in);
  return status;
}
