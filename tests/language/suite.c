// SPDX-License-Identifier: Apache-2.0
// One case: its kernel, arrays, launch and comparison.
#include "suite.h"

#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { GUARD = 64, POISON = 0xA5 };

const enum dtype number_types[12] = {DTYPE_I8,  DTYPE_I16,  DTYPE_I32, DTYPE_I64,
                                     DTYPE_U8,  DTYPE_U16,  DTYPE_U32, DTYPE_U64,
                                     DTYPE_F16, DTYPE_BF16, DTYPE_F32, DTYPE_F64};

// ---- the suite ----

static const char *running = ""; // for the handler

static void crashed(int number) {
  static const char text[] = "Bail out! crashed in ";
  (void)!write(1, text, sizeof text - 1);
  (void)!write(1, running, strlen(running));
  (void)!write(1, "\n", 1);
  signal(number, SIG_DFL);
  raise(number);
}

int suite_open(struct suite *s) {
  setenv("TILE_CACHE_DIR", "", 0);
  s->on_cpu = strcmp(s->o.device, "cpu") == 0;
  s->on_processor = s->on_cpu || strncmp(s->o.device, "simulate", 8) == 0;
  tile_status status = tile_device_open(s->o.device, &s->device);
  if (status != TILE_OK) {
    printf("1..0 # SKIP %s\n", tile_error_message());
    return status == TILE_NO_DEVICE || status == TILE_DRIVER_TOO_OLD ? 0
                                                                     : 1; // TAP skips by the plan
  }
  running = s->name;
  // Runs on a separate stack, since the kernel's may have overflowed.
  static char stack[1 << 16];
  sigaltstack(&(stack_t){.ss_sp = stack, .ss_size = sizeof stack}, NULL);
  struct sigaction act = {.sa_handler = crashed, .sa_flags = SA_ONSTACK};
  sigaction(SIGSEGV, &act, NULL);
  sigaction(SIGFPE, &act, NULL);
  return -1;
}

int suite_close(struct suite *s) {
  tile_kernel_close(s->kernel);
  free(s->kernel_text);
  strbuf_finish(&s->text);
  tile_device_close(s->device);
  if (!s->o.list)
    printf("1..%u\n", s->run);
  return s->failed != 0;
}

// ---- selecting cases ----

uint64_t text_hash(const char *text) {
  uint64_t h = 1469598103934665603u;
  for (; *text; text++)
    h = (h ^ (unsigned char)*text) * 1099511628211u;
  return h;
}

static bool is_wanted(const struct suite *s) {
  const struct options *o = &s->o;
  if (o->only)
    return strcmp(s->name, o->only) == 0;
  if (o->match && !strstr(s->name, o->match))
    return false;
  return o->every <= 1 || s->seen % o->every == 0;
}

bool case_begin(struct suite *s, const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  vsnprintf(s->name, sizeof s->name, fmt, ap);
  va_end(ap);
  s->seen++;
  if (!is_wanted(s))
    return false;
  if (s->o.list) {
    printf("%s\n", s->name);
    return false;
  }
  s->arena = arena_create();
  s->text.len = 0;
  s->warps = 4;
  s->stages = 3;
  s->array_count = s->arg_count = 0;
  s->random = text_hash(s->name);
  s->is_failed = false;
  return true;
}

void case_end(struct suite *s) {
  for (unsigned i = 0; i < s->array_count; i++)
    tile_free(s->device, s->arrays[i].device);
  arena_destroy(s->arena);
  s->arena = NULL;
  s->run++;
  s->failed += s->is_failed;
  if (!s->is_failed)
    printf("ok %u - %s\n", s->run, s->name);
  fflush(stdout);
}

void case_fail(struct suite *s, const char *fmt, ...) {
  if (s->is_failed)
    return;
  s->is_failed = true;
  char text[2000];
  va_list ap;
  va_start(ap, fmt);
  vsnprintf(text, sizeof text, fmt, ap);
  va_end(ap);
  printf("not ok %u - %s\n", s->run + 1, s->name);
  for (char *line = text, *end; line; line = end) {
    end = strchr(line, '\n');
    if (end)
      *end++ = 0;
    printf("# %s\n", line);
  }
  printf("# see it alone: %s --case '%s' --print\n", s->o.device, s->name);
}

// ---- the kernel and its arguments ----

void case_source(struct suite *s, const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  strbuf_vprintf(&s->text, fmt, ap);
  va_end(ap);
}

void case_warps(struct suite *s, unsigned num_warps) { s->warps = num_warps; }
void case_stages(struct suite *s, unsigned num_stages) { s->stages = num_stages; }

static size_t byte_count(const struct array *a) {
  return (a->count + GUARD) * dtype_bytes(a->type);
}

static struct array *make_array(struct suite *s, enum dtype type, size_t count, bool is_output,
                                int byte) {
  struct array *a = &s->arrays[s->array_count++];
  *a = (struct array){.type = type, .count = count, .is_output = is_output};
  a->host = arena_alloc(s->arena, byte_count(a), 16);
  a->before = arena_alloc(s->arena, byte_count(a), 16);
  memset(a->host, POISON, byte_count(a));
  memset(a->host, byte, count * dtype_bytes(type));
  if (tile_malloc(s->device, byte_count(a), &a->device) != TILE_OK)
    case_fail(s, "%s", tile_error_message());
  case_arg(s, tile_arg_pointer(a->device, (tile_type)type));
  return a;
}

struct array *case_input(struct suite *s, enum dtype type, size_t count) {
  return make_array(s, type, count, false, 0);
}

struct array *case_output(struct suite *s, enum dtype type, size_t count) {
  return make_array(s, type, count, true, POISON);
}

struct array *case_inout(struct suite *s, enum dtype type, size_t count) {
  return make_array(s, type, count, true, 0);
}

void case_arg(struct suite *s, tile_arg arg) { s->args[s->arg_count++] = arg; }
void case_int(struct suite *s, int32_t value) { case_arg(s, tile_arg_i32(value)); }

// ---- launching ----

// Opens the case's kernel, unless it equals the last one's.
static bool open_kernel(struct suite *s) {
  const char *text = strbuf_cstr(&s->text);
  if (s->o.print) {
    printf("# %u warps, %u stages\n%s", s->warps, s->stages, text);
    fflush(stdout); // should the kernel crash
  }
  if (s->kernel && s->kernel_warps == s->warps && s->kernel_stages == s->stages &&
      strcmp(s->kernel_text, text) == 0)
    return true;
  tile_kernel_close(s->kernel);
  free(s->kernel_text);
  s->kernel = NULL;
  s->kernel_text = strdup(text);
  s->kernel_warps = s->warps;
  s->kernel_stages = s->stages;
  tile_status status =
      tile_kernel_from_source(s->device, "case.tile", text, s->text.len, "k", &s->kernel);
  if (status == TILE_OK)
    status = tile_kernel_set_warps(s->kernel, s->warps);
  if (status == TILE_OK)
    status = tile_kernel_set_stages(s->kernel, s->stages);
  if (status == TILE_OK && s->o.target)
    status = tile_kernel_set_target(s->kernel, s->o.target);
  if (status == TILE_OK && s->on_processor && !s->o.unchecked)
    status = tile_kernel_set_check(s->kernel, 1);
  return status == TILE_OK;
}

static bool launch(struct suite *s, tile_grid grid) {
  for (unsigned i = 0; i < s->array_count; i++) {
    struct array *a = &s->arrays[i];
    memcpy(a->before, a->host, byte_count(a));
    if (tile_copy_to_device(s->device, NULL, a->device, a->host, byte_count(a)) != TILE_OK)
      return false;
  }
  if (tile_launch(s->kernel, NULL, grid, s->args, s->arg_count) != TILE_OK)
    return false;
  for (unsigned i = 0; i < s->array_count; i++) {
    struct array *a = &s->arrays[i];
    if (tile_copy_to_host(s->device, NULL, a->host, a->device, byte_count(a)) != TILE_OK)
      return false;
  }
  return true;
}

// Checks that guards and inputs are unchanged.
static void check_bystanders(struct suite *s) {
  for (unsigned i = 0; i < s->array_count; i++) {
    const struct array *a = &s->arrays[i];
    size_t end = byte_count(a), from = a->is_output ? a->count * dtype_bytes(a->type) : 0;
    for (size_t b = from; b < end; b++)
      if (a->host[b] != a->before[b]) {
        case_fail(s, "array %u: byte %zu of %zu was written", i, b,
                  a->count * dtype_bytes(a->type));
        return;
      }
  }
}

bool case_run_grid(struct suite *s, tile_grid grid) {
  if (s->o.export_to) {
    if (!s->is_failed && !case_export(s, s->o.export_to))
      case_fail(s, "could not be written to %s", s->o.export_to);
    return false;
  }
  if (!s->is_failed && (!open_kernel(s) || !launch(s, grid)))
    case_fail(s, "%s", tile_error_message());
  if (!s->is_failed)
    check_bystanders(s);
  return !s->is_failed;
}

bool case_run(struct suite *s, unsigned programs) {
  return case_run_grid(s, (tile_grid){programs, 1, 1});
}

// Restores the outputs' contents from before the first launch.
static void rewind_outputs(struct suite *s, char *const results[SUITE_ARRAYS], bool to_result) {
  for (unsigned i = 0; i < s->array_count; i++) {
    struct array *a = &s->arrays[i];
    memcpy(a->host, to_result ? results[i] : a->before, byte_count(a));
  }
}

void case_repeat(struct suite *s, tile_grid grid, unsigned times) {
  char *results[SUITE_ARRAYS];
  for (unsigned i = 0; i < s->array_count; i++) {
    results[i] = arena_alloc(s->arena, byte_count(&s->arrays[i]), 16);
    memcpy(results[i], s->arrays[i].host, byte_count(&s->arrays[i]));
  }
  for (unsigned k = 0; k < times && !s->is_failed; k++) {
    rewind_outputs(s, results, false);
    if (!launch(s, grid))
      case_fail(s, "%s", tile_error_message());
    for (unsigned i = 0; i < s->array_count && !s->is_failed; i++)
      if (memcmp(results[i], s->arrays[i].host, byte_count(&s->arrays[i])) != 0)
        case_fail(s, "launch %u gave another result than the first", k + 2);
  }
  rewind_outputs(s, results, true);
}

void case_refuse(struct suite *s, const char *code) {
  if (s->o.export_to)
    return;
  bool is_open = open_kernel(s);
  tile_status status = is_open ? tile_kernel_prepare(s->kernel, s->args, s->arg_count) : TILE_OK;
  if (is_open && status == TILE_OK)
    case_fail(s, "compiled, where %s was expected", code);
  else if (!strstr(tile_error_message(), code))
    case_fail(s, "%s was expected, not\n%s", code, tile_error_message());
}

// ---- results ----

struct num array_get(const struct array *a, size_t i) {
  return num_load(a->type, a->host + i * dtype_bytes(a->type));
}

void array_set(struct array *a, size_t i, struct num v) {
  v.type = a->type;
  num_store(a->host + i * dtype_bytes(a->type), v);
}

static void operands_text(const struct suite *s, size_t i, char *text, size_t size) {
  size_t len = 0;
  text[0] = 0;
  for (unsigned k = 0; k < s->array_count && len < size; k++) {
    const struct array *a = &s->arrays[k];
    if (a->is_output || i >= a->count)
      continue;
    char value[80];
    num_text(array_get(a, i), value, sizeof value);
    len += (size_t)snprintf(text + len, size - len, "\n%s [%zu] of array %u: %s",
                            dtype_name(a->type), i, k, value);
  }
}

void case_expect(struct suite *s, const struct array *a, size_t i, struct num want, double ulps,
                 double atol) {
  struct num got = array_get(a, i);
  if (s->is_failed || num_agrees(got, want, ulps, atol))
    return;
  char got_text[80], want_text[80], operands[600];
  num_text(got, got_text, sizeof got_text);
  num_text(want, want_text, sizeof want_text);
  operands_text(s, i, operands, sizeof operands);
  case_fail(s, "[%zu] is %s, expected %s%s", i, got_text, want_text, operands);
}

void case_expect_untouched(struct suite *s, const struct array *a, size_t i) {
  size_t bytes = dtype_bytes(a->type);
  if (memcmp(a->host + i * bytes, a->before + i * bytes, bytes) != 0)
    case_fail(s, "[%zu] was written", i);
}
