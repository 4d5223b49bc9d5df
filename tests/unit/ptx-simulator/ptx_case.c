// SPDX-License-Identifier: Apache-2.0
// Runs small kernels written in PTX.
#include "ptx_case.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char head[] = ".version 8.3\n.target sm_90a\n.address_size 64\n"
                           ".extern .shared .align 16 .b8 dyn[];\n"
                           ".shared .align 16 .b8 smem[4096];\n";
static const char kernel[] =
    ".visible .entry k(.param .u64 .ptr .global .align 16 k_0, .param .u64 k_1, .param .u32 k_2,\n"
    ".param .align 64 .b8 k_3[128], .param .align 64 .b8 k_4[128], .param .align 64 .b8 k_5[128])\n"
    "{ .reg .pred %p<16>; .reg .b16 %h<16>; .reg .b32 %r<64>; .reg .b64 %rd<32>;\n"
    "ld.param.b64 %rd1, [k_0]; ld.param.b64 %rd2, [k_1]; ld.param.b32 %r1, [k_2];\n"
    "mov.u32 %r0, %tid.x; mov.u32 %r2, %laneid;\n"
    "mad.wide.u32 %rd3, %r0, 4, %rd1; mad.wide.u32 %rd4, %r0, 4, %rd2;\n";

static char *whole_text(const char *before, const char *body) {
  size_t size = strlen(before ? before : "") + strlen(body) + sizeof head + sizeof kernel + 64;
  char *text = malloc(size);
  snprintf(text, size, "%s%s%s%s\nret;\n}\n", head, before ? before : "", kernel, body);
  return text;
}

// The body's first line in the whole text.
static unsigned first_line(const char *before) {
  unsigned line = 1;
  for (const char *s = head; *s; s++)
    line += *s == '\n';
  for (const char *s = before ? before : ""; *s; s++)
    line += *s == '\n';
  for (const char *s = kernel; *s; s++)
    line += *s == '\n';
  return line;
}

static void keep_violation(void *user, const struct sim_violation *f) {
  struct ptx_case *c = user;
  if (c->violation_count < CASE_VIOLATIONS)
    c->violations[c->violation_count++] = *f;
}

static void keep_text(void *user, const char *text, size_t size) {
  struct ptx_case *c = user;
  if (c->printed_size + size < sizeof c->printed) {
    memcpy(c->printed + c->printed_size, text, size);
    c->printed_size += size;
  }
}

static void launch(struct ptx_case *c, const struct sim_kernel *k) {
  uint64_t out = CASE_OUT, in = CASE_IN;
  uint8_t maps[CASE_MAPS][SIM_TENSOR_MAP_BYTES] = {{0}};
  char text[SIM_TEXT];
  for (unsigned i = 0; i < CASE_MAPS; i++)
    ck_assert_msg(!c->maps[i] || sim_tensor_map_encode(c->maps[i], maps[i], text, sizeof text),
                  "map %u: %s", i, text);
  uint8_t written[sizeof c->out / 8] = {0};
  const void *values[] = {&out, &in, &c->n, maps[0], maps[1], maps[2]};
  struct sim_buffer buffers[] = {
      {CASE_OUT, c->out, sizeof c->out, false, "out", c->unwritten ? written : NULL},
      {CASE_IN, c->in, sizeof c->in, true, "in"}};
  struct sim_launch l = {.kernel = k,
                         .grid = {c->grid ? c->grid : 1, 1, 1},
                         .block = {c->threads ? c->threads : 32, 1, 1},
                         .cluster = {c->cluster, 0, 0},
                         .dynamic_shared_bytes = c->dynamic_bytes,
                         .values = values,
                         .buffers = buffers,
                         .buffer_count = 2,
                         .check = c->check,
                         .seed = c->seed,
                         .instruction_limit = c->limit ? c->limit : 10000000,
                         .user = c,
                         .violation = keep_violation,
                         .print = keep_text};
  c->status = sim_run(&l, &c->report);
}

void case_run(struct ptx_case *c) {
  struct arena *a = arena_create();
  struct sim_error error = {0};
  char *text = whole_text(c->before, c->body);
  const struct sim_module *m = sim_module_parse(a, text, strlen(text), &error);
  ck_assert_msg(m != NULL, "%u:%u: %s", error.line, error.column, error.text);
  unsigned first = first_line(c->before);
  launch(c, sim_module_kernel(m, "k"));
  for (unsigned i = 0; i < c->violation_count; i++) {
    struct sim_violation *f = &c->violations[i];
    f->at.line = f->at.line >= first ? f->at.line - first + 1 : 0;
    f->other.line = f->other.line >= first ? f->other.line - first + 1 : 0;
    f->at.instruction = f->other.instruction = NULL; // of the module
  }
  free(text);
  arena_destroy(a);
}

struct sim_error case_parse(const char *module) {
  struct arena *a = arena_create();
  struct sim_error error = {0};
  size_t size = strlen(module);
  char *copy = malloc(size + 1); // so that AddressSanitizer detects reads past the text
  memcpy(copy, module, size);
  if (sim_module_parse(a, copy, size, &error))
    error.text[0] = 0;
  else
    ck_assert_msg(error.text[0] != 0, "an error without a text");
  free(copy);
  arena_destroy(a);
  return error;
}

struct sim_error case_parse_body(const char *body) {
  char *text = whole_text(NULL, body);
  struct sim_error error = case_parse(text);
  free(text);
  error.line -= first_line(NULL) - 1;
  return error;
}

void case_expect(const char *body, bool check, enum sim_kind kind, unsigned line) {
  static struct ptx_case c;
  c = (struct ptx_case){.body = body, .check = check};
  case_run(&c);
  ck_assert_msg(c.violation_count > 0, "nothing was found in: %s", body);
  const struct sim_violation *f = &c.violations[c.violation_count - 1];
  ck_assert_msg(f->kind == kind, "found '%s' (%s) in: %s", sim_kind_name(f->kind), f->text, body);
  ck_assert_msg(f->at.line == line, "found in line %u: %s", f->at.line, f->text);
}

enum { SEEDS = 12 };

static void run_with(struct ptx_case *c, const char *body, uint64_t seed) {
  c->body = body;
  c->check = true;
  c->seed = seed;
  c->violation_count = 0;
  memset(c->out, 0, sizeof c->out);
  case_run(c);
}

void case_reject(struct ptx_case *c, const struct wrong_program *p) {
  for (uint64_t seed = 0; seed < SEEDS; seed++) {
    bool found = false;
    run_with(c, p->body, seed);
    for (unsigned i = 0; i < c->violation_count; i++) {
      const struct sim_violation *f = &c->violations[i];
      found |= p->or_kind && f->kind == p->or_kind;
      found |= f->kind == p->kind && (p->line == 0 || f->at.line == p->line) &&
               strstr(f->text, p->text) != NULL;
    }
    const struct sim_violation *f = &c->violations[0];
    ck_assert_msg(found, "seed %u: %u reports, the first: %s, line %u: %s\nin: %s", (unsigned)seed,
                  c->violation_count, c->violation_count ? sim_kind_name(f->kind) : "none",
                  f->at.line, f->text, p->body);
  }
}

void case_accept(struct ptx_case *c, const char *body) {
  for (uint64_t seed = 0; seed < SEEDS; seed++) {
    run_with(c, body, seed);
    ck_assert_msg(c->status == SIM_OK && c->violation_count == 0, "seed %u: status %d, line %u: %s",
                  (unsigned)seed, (int)c->status, c->violations[0].at.line,
                  c->violation_count ? c->violations[0].text : c->report.text);
  }
}
