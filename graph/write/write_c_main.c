// SPDX-License-Identifier: Apache-2.0
// The `main` of a program in C, compiled if NAME_MAIN is defined: it fills inputs from a weights
// file by name, others with small numbers, runs the program, replays a recording of it, and prints
// memory, time and the first elements of each output.
#include "graph/write/write_c_internal.h"

#include <ctype.h>

// Prints the floats of an output; formats without a C type as hexadecimal bytes.
static const char helpers[] =
    "static void NAME_show(const struct NAME_tensor *t, const unsigned char *data) {\n"
    "  int i, n = 4;\n"
    "  printf(\"%s:\", t->name);\n"
    "  for (i = 0; i < n; i++) {\n"
    "    if (t->type == TILE_F32 && t->bytes >= (size_t)(4 * i + 4)) {\n"
    "      float f;\n"
    "      memcpy(&f, data + 4 * i, 4);\n"
    "      printf(\" %g\", (double)f);\n"
    "    } else if (t->type == TILE_BF16 && t->bytes >= (size_t)(2 * i + 2)) {\n"
    "      uint32_t bits = (uint32_t)data[2 * i] << 16 | (uint32_t)data[2 * i + 1] << 24;\n"
    "      float f;\n"
    "      memcpy(&f, &bits, 4);\n"
    "      printf(\" %g\", (double)f);\n"
    "    } else if (t->type != TILE_F32 && t->type != TILE_BF16 && t->bytes > (size_t)i) {\n"
    "      printf(\" %02x\", data[i]);\n"
    "    }\n"
    "  }\n"
    "  printf(\"\\n\");\n"
    "}\n\n"
    "/* Small numbers for what no file gives: integers are 0, which is an index of every table. "
    "*/\n"
    "static void NAME_fill(const struct NAME_tensor *t, unsigned char *data) {\n"
    "  size_t i;\n"
    "  memset(data, 0, t->bytes);\n"
    "  for (i = 0; t->type == TILE_F32 && 4 * i + 4 <= t->bytes; i++) {\n"
    "    float f = (float)(int)(i * 7 % 19) * 0.01f - 0.09f;\n"
    "    memcpy(data + 4 * i, &f, 4);\n"
    "  }\n"
    "  for (i = 0; t->type == TILE_BF16 && 2 * i + 2 <= t->bytes; i++)\n"
    "    data[2 * i + 1] = (unsigned char)(i % 2 ? 0xbc : 0x3c); /* +-0.0078 */\n"
    "  for (i = 0; t->type == TILE_F16 && 2 * i + 2 <= t->bytes; i++)\n"
    "    data[2 * i + 1] = (unsigned char)(i % 2 ? 0xa4 : 0x24); /* +-0.0156 */\n"
    "}\n\n"
    "static int NAME_check(tile_status status, const char *what) {\n"
    "  if (status != TILE_OK)\n"
    "    fprintf(stderr, \"%s: %s\\n\", what, tile_error_message());\n"
    "  return status == TILE_OK;\n"
    "}\n\n"
    "static int NAME_allocate(tile_device *device, const struct NAME_tensor *t, const tile_weights "
    "*weights, int is_input,\n"
    "                         void **ret) {\n"
    "  size_t size = t->bytes ? t->bytes : 1;\n"
    "  unsigned char *data = (unsigned char *)malloc(size);\n"
    "  tile_weight w;\n"
    "  int ok = data != NULL && NAME_check(tile_malloc(device, size, ret), \"tile_malloc\");\n"
    "  if (ok && is_input) {\n"
    "    NAME_fill(t, data);\n"
    "    if (weights && tile_weights_find(weights, t->name, &w) == TILE_OK) {\n"
    "      if (w.type != t->type || w.size != t->bytes) {\n"
    "        fprintf(stderr, \"%s: the file has another type or size\\n\", t->name);\n"
    "        ok = 0;\n"
    "      } else {\n"
    "        memcpy(data, w.data, w.size);\n"
    "      }\n"
    "    }\n"
    "    ok = ok && NAME_check(tile_copy_to_device(device, NULL, *ret, data, size), "
    "\"tile_copy_to_device\");\n"
    "  }\n"
    "  free(data);\n"
    "  return ok;\n"
    "}\n\n";

static const char body[] =
    "/* usage: NAME [DEVICE [WEIGHTS [REPEATS]]] */\n"
    "int main(int argc, char **argv) {\n"
    "  static void *inputs[NAME_INPUTS + 1], *outputs[NAME_OUTPUTS + 1];\n"
    "  tile_device *device = NULL;\n"
    "  tile_weights *weights = NULL;\n"
    "  tile_stream *stream = NULL;\n"
    "  tile_replay *replay = NULL;\n"
    "  tile_event *start = NULL, *stop = NULL;\n"
    "  struct NAME *program = NULL;\n"
    "  int i, ok, repeats = argc > 3 ? atoi(argv[3]) : 20;\n"
    "  size_t io = 0;\n"
    "  float ms = 0;\n"
    "  ok = NAME_check(tile_device_open(argc > 1 ? argv[1] : NULL, &device), "
    "\"tile_device_open\");\n"
    "  if (ok && argc > 2)\n"
    "    ok = NAME_check(tile_weights_open(argv[2], &weights), \"tile_weights_open\");\n"
    "  ok = ok && NAME_check(NAME_open(device, &program), \"NAME_open\");\n"
    "  ok = ok && NAME_check(tile_stream_create(device, &stream), \"tile_stream_create\");\n"
    "  ok = ok && NAME_check(tile_event_create(device, &start), \"tile_event_create\");\n"
    "  ok = ok && NAME_check(tile_event_create(device, &stop), \"tile_event_create\");\n"
    "  for (i = 0; ok && i < NAME_INPUTS; i++) {\n"
    "    ok = NAME_allocate(device, &NAME_inputs[i], weights, 1, &inputs[i]);\n"
    "    io += NAME_inputs[i].bytes;\n"
    "  }\n"
    "  for (i = 0; ok && i < NAME_OUTPUTS; i++) {\n"
    "    ok = NAME_allocate(device, &NAME_outputs[i], NULL, 0, &outputs[i]);\n"
    "    io += NAME_outputs[i].bytes;\n"
    "  }\n"
    "  if (ok)\n"
    "    printf(\"memory: %.0f bytes of inputs and outputs, %.0f between launches (operator by "
    "operator %.0f)\\n\",\n"
    "           (double)io, (double)NAME_arena_bytes(), (double)NAME_eager_bytes());\n"
    "  ok = ok && NAME_check(NAME_run(program, stream, 0, inputs, outputs), \"NAME_run\");\n"
    "  ok = ok && NAME_check(NAME_record(program, stream, 0, inputs, outputs, &replay), "
    "\"NAME_record\");\n"
    "  ok = ok && NAME_check(tile_replay_run(replay, stream), \"tile_replay_run\");\n"
    "  ok = ok && NAME_check(tile_event_record(device, start, stream), \"tile_event_record\");\n"
    "  for (i = 0; ok && i < repeats; i++)\n"
    "    ok = NAME_check(tile_replay_run(replay, stream), \"tile_replay_run\");\n"
    "  ok = ok && NAME_check(tile_event_record(device, stop, stream), \"tile_event_record\");\n"
    "  ok = ok && NAME_check(tile_event_elapsed(start, stop, &ms), \"tile_event_elapsed\");\n"
    "  if (ok && repeats > 0)\n"
    "    printf(\"replay: %.4f ms\\n\", (double)ms / repeats);\n"
    "  for (i = 0; ok && i < NAME_OUTPUTS; i++) {\n"
    "    size_t shown = NAME_outputs[i].bytes < 16 ? NAME_outputs[i].bytes : 16;\n"
    "    unsigned char data[16];\n"
    "    if (NAME_outputs[i].rank < 0)\n"
    "      continue;\n"
    "    ok = NAME_check(tile_copy_to_host(device, stream, data, outputs[i], shown), "
    "\"tile_copy_to_host\");\n"
    "    if (ok)\n"
    "      NAME_show(&NAME_outputs[i], data);\n"
    "  }\n"
    "  tile_replay_destroy(replay);\n"
    "  tile_event_destroy(start);\n"
    "  tile_event_destroy(stop);\n"
    "  for (i = 0; device && i < NAME_INPUTS; i++)\n"
    "    tile_free(device, inputs[i]);\n"
    "  for (i = 0; device && i < NAME_OUTPUTS; i++)\n"
    "    tile_free(device, outputs[i]);\n"
    "  NAME_close(program);\n"
    "  tile_stream_destroy(stream);\n"
    "  tile_weights_close(weights);\n"
    "  tile_device_close(device);\n"
    "  return ok ? 0 : 1;\n"
    "}\n";

// Replaces NAME by the module's name.
static void put(const struct c_writer *w, const char *text) {
  for (const char *at = strstr(text, "NAME"); at; at = strstr(text, "NAME")) {
    strbuf_put(w->out, text, (size_t)(at - text));
    strbuf_puts(w->out, w->m->name);
    text = at + sizeof "NAME" - 1;
  }
  strbuf_puts(w->out, text);
}

void c_write_main(const struct c_writer *w) {
  strbuf_puts(w->out, "\n#ifdef ");
  for (const char *c = w->m->name; *c; c++)
    strbuf_putc(w->out, (char)toupper((unsigned char)*c));
  strbuf_puts(w->out, "_MAIN\n");
  put(w, helpers);
  put(w, body);
  strbuf_puts(w->out, "#endif\n");
}
