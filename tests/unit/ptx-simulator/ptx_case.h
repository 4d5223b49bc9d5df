// SPDX-License-Identifier: Apache-2.0
// A small kernel written in PTX, run by the simulator. The body has these registers: %r0 thread,
// %r1 the parameter n, %rd1 `out`, %rd2 `in`, %rd3 and %rd4 the same plus 4 bytes per thread, %r2
// the lane; and may use %p0-15, %h0-15, %r3-63, %rd5-31, shared memory `smem` of 4096 bytes and
// dynamic shared memory `dyn`, and the tensor maps k_3, k_4, k_5.
#ifndef TESTS_UNIT_SIMULATOR_PTX_CASE_H
#define TESTS_UNIT_SIMULATOR_PTX_CASE_H

#include "ptx-simulator/simulator.h"

#include <check.h>

enum {
  CASE_WORDS = 4096,
  CASE_VIOLATIONS = 16,
  CASE_MAPS = 3,
  CASE_OUT = 0x10000, // device addresses of `out` and `in`
  CASE_IN = 0x80000
};

struct ptx_case {
  const char *body;
  const char *before;     // text before the kernel: functions, variables; NULL: none
  unsigned grid, threads; // 0 for 1 and 32
  unsigned cluster;       // CTAs of a cluster; 0: 1
  uint32_t n;
  bool check;
  uint64_t seed, limit; // limit 0: 10 million
  size_t dynamic_bytes;
  bool unwritten;                           // `out` is not marked as written
  const struct sim_tensor *maps[CASE_MAPS]; // NULL: no tensor map, all 0
  uint32_t in[CASE_WORDS];
  // Results:
  uint32_t out[CASE_WORDS];
  enum sim_status status;
  struct sim_report report;
  struct sim_violation violations[CASE_VIOLATIONS];
  unsigned violation_count;
  char printed[1024];
  size_t printed_size;
};

// Parses and runs; fails the test if the text is rejected.
void case_run(struct ptx_case *c);
// Whole modules: the error of the parser, "" when there is none.
struct sim_error case_parse(const char *module);
// As case_parse for the body of a kernel; `line` counts from the body's first.
struct sim_error case_parse_body(const char *body);
// One run with 32 threads whose last violation must be of this kind.
void case_expect(const char *body, bool check, enum sim_kind kind, unsigned line);

// Programs that are wrong whatever the schedule: with each of several seeds a violation of this
// kind must be found whose text contains `text`, in `line` of the body (0: any).
struct wrong_program {
  const char *body;
  enum sim_kind kind;
  unsigned line;
  const char *text;
  enum sim_kind or_kind; // what another schedule leads to; 0: nothing
};
// `c` has the threads, maps and text before the kernel.
void case_reject(struct ptx_case *c, const struct wrong_program *p);
// With each of several seeds: no violation.
void case_accept(struct ptx_case *c, const char *body);

#define ALLOWED(body_text, ...)                                                                    \
  static struct ptx_case c;                                                                        \
  c = (struct ptx_case){.body = (body_text), __VA_ARGS__};                                         \
  case_run(&c);                                                                                    \
  ck_assert_msg(c.status == SIM_OK && c.violation_count == 0, "status %d: %s", (int)c.status,      \
                c.violation_count ? c.violations[0].text : c.report.text)

#endif
