// SPDX-License-Identifier: Apache-2.0
// PTX for the simulator: parses the text and runs one CTA of each small kernel for a limited time
// on small buffers, with all checks.
#include "drive.h"
#include "ptx-simulator/simulator.h"

#include <stdlib.h>
#include <string.h>

enum {
  BUFFER = 4096, // bytes of each
  ADDRESS = 1 << 16,
  PARAMS = 64,
  PARAM_BYTES = 4096,
  THREADS = 64,
  SHARED_BYTES = 1 << 16,
  LOCAL_BYTES = 1 << 12,
  INSTRUCTIONS = 20000
};

struct seen {
  unsigned violations;
};

static void count_finding(void *user, const struct sim_violation *f) {
  struct seen *s = user;
  s->violations++;
  DRIVE_CHECK(memchr(f->text, '\0', sizeof f->text));
  DRIVE_CHECK(sim_kind_name(f->kind) && sim_space_name(f->space));
}

static void ignore_text(void *user, const char *text, size_t size) {
  (void)user;
  DRIVE_CHECK(text || size == 0);
}

static bool is_small(const struct sim_kernel *k) {
  return k->param_count <= PARAMS && k->param_bytes <= PARAM_BYTES &&
         k->static_shared_bytes <= SHARED_BYTES && k->local_bytes <= LOCAL_BYTES;
}

// A parameter of 8 bytes is the address of one of the two buffers, alternately; others are small
// numbers.
static const void *value_of(struct arena *a, const struct sim_kernel *k, unsigned i) {
  unsigned char *bytes = arena_array(a, unsigned char, k->params[i].size + sizeof(uint64_t));
  uint64_t word = k->params[i].size == 8 ? (uint64_t)ADDRESS * (1 + i % 2) : 40;
  memset(bytes, 0, k->params[i].size + sizeof word);
  memcpy(bytes, &word, sizeof word);
  return bytes;
}

static unsigned threads_of(const struct sim_kernel *k) {
  uint64_t wanted = (uint64_t)k->required_block[0] * k->required_block[1] * k->required_block[2];
  return wanted && k->required_block[1] == 1 && k->required_block[2] == 1 && wanted <= 256
             ? (unsigned)wanted
             : THREADS;
}

static void run_kernel(struct arena *a, const struct sim_kernel *k, uint64_t seed) {
  static unsigned char first[BUFFER], second[BUFFER];
  struct sim_buffer buffers[] = {{ADDRESS, first, BUFFER, false, "first"},
                                 {2 * ADDRESS, second, BUFFER, false, "second"}};
  const void *values[PARAMS + 1];
  struct seen seen = {0};
  memset(first, 0, BUFFER);
  memset(second, 0x3c, BUFFER);
  for (unsigned i = 0; i < k->param_count; i++)
    values[i] = value_of(a, k, i);
  struct sim_launch l = {.kernel = k,
                         .grid = {1, 1, 1},
                         .block = {threads_of(k), 1, 1},
                         .dynamic_shared_bytes = k->has_dynamic_shared ? SHARED_BYTES : 0,
                         .values = values,
                         .buffers = buffers,
                         .buffer_count = COUNT_OF(buffers),
                         .check = true,
                         .seed = seed,
                         .instruction_limit = INSTRUCTIONS,
                         .user = &seen,
                         .violation = count_finding,
                         .print = ignore_text};
  struct sim_report report = {0};
  enum sim_status status = sim_run(&l, &report);
  DRIVE_CHECK(status != SIM_FAULT || seen.violations > 0);
  DRIVE_CHECK(status != SIM_INVALID || memchr(report.text, '\0', sizeof report.text));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  struct drive d;
  if (!drive_begin(&d))
    return 0;
  char *text = malloc(size ? size : 1); // so that reads behind it are found
  if (text) {
    memcpy(text, data, size);
    struct sim_error error = {0};
    struct sim_module *m = sim_module_parse(d.arena, text, size, &error);
    DRIVE_CHECK(m || (error.text[0] && error.line > 0 && error.column > 0));
    for (size_t i = 0; m && i < sim_module_kernel_count(m) && i < 4; i++)
      if (is_small(sim_module_kernel_at(m, i)))
        run_kernel(d.arena, sim_module_kernel_at(m, i), size);
  }
  free(text);
  drive_end(&d);
  return 0;
}
