// SPDX-License-Identifier: Apache-2.0
// The suites of this executable, and their shared state: an arena, a diagnostics engine, and the
// command line's text, into which locations point.
#ifndef TESTS_UNIT_TOOLS_SUITES_H
#define TESTS_UNIT_TOOLS_SUITES_H

#include "base/diag.h"

#include <check.h>

#define SUITES(X)                                                                                  \
  X(arg_spec)                                                                                      \
  X(array_fill)                                                                                    \
  X(grid_expr)                                                                                     \
  X(npy)                                                                                           \
  X(compare) X(options) X(pages) X(launch) X(report_violations) X(gpu_guess) X(lsp)                \
      X(lsp_protocol) X(pictures) X(image_link)

#define X(name) TCase *name##_tests(void);
SUITES(X)
#undef X

struct session {
  struct arena *a;
  struct diag_engine *diag;
};
// A checked fixture.
extern struct session session;
void session_setup(void);
void session_teardown(void);

// A span over all of `text`, as the command line gives it.
struct span session_text(const char *text);
// The code of the only error, after which the engine is empty again. Fails the test when there is
// none or more than one.
enum diag_code session_error(void);
// The rendered messages must be exactly these.
void session_expect(const char *want);

#endif
