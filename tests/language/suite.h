// SPDX-License-Identifier: Apache-2.0
// The conformance suite: tables of the language's features; each row is a kernel's text, compiled
// through the public API, launched, and compared with a reference in double precision or 64-bit
// integers. One TAP line per case.
//
//   if (!case_begin(s, "add f32 n=%d", n)) return;
//   case_source(s, "@jit\ndef k(x, out, n):\n ...");
//   struct array *x = case_input(s, DTYPE_F32, n), *out = case_output(s, DTYPE_F32, n);
//   array_draw(s, x, DRAW_ANY);
//   case_int(s, n);
//   if (case_run(s, programs, 1, 1))
//     for (...) case_expect(s, out, i, want, ulps, atol);
//   case_end(s);
//
// Arguments are passed in the order in which inputs, outputs and numbers are created. On the CPU
// and on simulated GPUs every launch is checked (bounds, shared-memory races). All arrays
// are poisoned and guarded; inputs must be unchanged.
#ifndef TESTS_LANGUAGE_SUITE_H
#define TESTS_LANGUAGE_SUITE_H

#include "base/arena.h"
#include "num.h"

#include <tile/tile.h>

struct array {
  enum dtype type;
  size_t count;
  bool is_output;
  char *host, *before; // with the guard; `before` as it was at the launch
  void *device;
};

struct options {
  bool unchecked;        // on the CPU in vectors where that is possible, without checks of accesses
  const char *device;    // "cpu", "cuda", "simulate:sm_80"
  const char *target;    // to compile for, or NULL: the device's own
  const char *match;     // only cases whose name contains this
  const char *only;      // only the case of this name
  const char *export_to; // folder for kernels, which are then not run; NULL: none
  unsigned every;        // only each k-th case
  unsigned repeats;      // of each launch, as far as the program does that
  bool list, print;      // names only; print the kernel's text
};

#define SUITE_ARRAYS 12
#define SUITE_ARGS 24

struct suite {
  struct options o;
  tile_device *device;
  bool on_cpu;       // the kernel is code for the CPU
  bool on_processor; // that, or a simulated GPU: slow, and every launch is checked
  unsigned seen, run, failed;
  // The kernel of the last case, kept for a next case with the same text.
  tile_kernel *kernel;
  char *kernel_text;
  unsigned kernel_warps, kernel_stages;
  // The current case.
  struct arena *arena;
  char name[200];
  struct strbuf text;
  unsigned warps, stages;
  struct array arrays[SUITE_ARRAYS];
  unsigned array_count;
  tile_arg args[SUITE_ARGS];
  unsigned arg_count;
  uint64_t random;
  bool is_failed;
};

// Opens the device of the options. -1, or the exit status of the program if that fails (0 and an
// empty plan without a device).
int suite_open(struct suite *s);
int suite_close(struct suite *s); // prints the plan; the program's exit status

// False if the options skip the case.
bool case_begin(struct suite *s, const char *fmt, ...) PRINTF(2, 3);
void case_end(struct suite *s);
void case_source(struct suite *s, const char *fmt, ...) PRINTF(2, 3); // appends
void case_warps(struct suite *s, unsigned num_warps);                 // default 4
void case_stages(struct suite *s, unsigned num_stages);               // default 3

// Outputs hold 0xA5 in every byte, inputs zeros.
struct array *case_input(struct suite *s, enum dtype type, size_t count);
struct array *case_output(struct suite *s, enum dtype type, size_t count);
struct array *case_inout(struct suite *s, enum dtype type, size_t count);
void case_int(struct suite *s, int32_t value);
void case_arg(struct suite *s, tile_arg arg);

// Compiles, launches `programs` along x, copies the arrays back. False after a failure.
bool case_run(struct suite *s, unsigned programs);
bool case_run_grid(struct suite *s, tile_grid grid);
// Launches again with the same arguments, `times` times: the outputs must have the same bits.
void case_repeat(struct suite *s, tile_grid grid, unsigned times);
// The kernel must not compile, with this diagnostic.
void case_refuse(struct suite *s, const char *code);

// Writes the kernel, with the options that tilec needs, into a file in `folder`, which exists.
bool case_export(struct suite *s, const char *folder);

void case_fail(struct suite *s, const char *fmt, ...) PRINTF(2, 3); // the first one is shown
// ulps 0: equal bits, including the sign of zero.
void case_expect(struct suite *s, const struct array *a, size_t i, struct num want, double ulps,
                 double atol);
void case_expect_untouched(struct suite *s, const struct array *a, size_t i);

struct num array_get(const struct array *a, size_t i);
void array_set(struct array *a, size_t i, struct num v);

enum draw {
  DRAW_ANY,     // any bits; infinities and NaN
  DRAW_FINITE,  // any but those; magnitudes around 1 more often
  DRAW_NONZERO, // of moderate size, no zero, no smallest integer
  DRAW_SHIFT,   // 0 .. bits - 1
  DRAW_SMALL,   // -8 .. 8; unsigned 0 .. 8
  DRAW_UNIT,    // -1 .. 1, floating point
  DRAW_BOOL,
};
uint64_t text_hash(const char *text);
uint64_t random_bits(struct suite *s);
double random_unit(struct suite *s); // [0, 1)
struct num draw_num(struct suite *s, enum dtype type, enum draw how);
void array_draw(struct suite *s, struct array *a, enum draw how);

// ---- one kernel for all elementwise operations ----
struct elementwise {
  const char *expr; // of a, b, c; becomes `r`
  unsigned arity;
  enum dtype in[3];
  enum draw draw[3];
  double low, high; // draws all operands evenly from this range instead, where low < high
  enum dtype out;   // of r; the kernel asserts it
  // ret->type is `out`
  struct num (*reference)(const struct num *in, const void *user);
  const void *user;
  double ulps, atol;
};
// Cases at the lengths 1, B-1, B, B+1 and a prime, or at one of them.
void elementwise_lengths(struct suite *s, const struct elementwise *e, const char *name);
void elementwise_once(struct suite *s, const struct elementwise *e, const char *name);
// The expression must not compile, with this diagnostic.
void elementwise_refuse(struct suite *s, const struct elementwise *e, const char *name,
                        const char *code);

extern const enum dtype number_types[12]; // all but int1 and 8-bit floating point

// ---- families ----
// name, uses shared memory
#define FAMILIES(X)                                                                                \
  X(binary, false)                                                                                 \
  X(compare, false)                                                                                \
  X(unary, false)                                                                                  \
  X(cast, false)                                                                                   \
  X(select, false)                                                                                 \
  X(math, false)                                                                                   \
  X(shape, true)                                                                                   \
  X(join, true)                                                                                    \
  X(memory, false)                                                                                 \
  X(atomics, true)                                                                                 \
  X(reduce, true)                                                                                  \
  X(scan, true)                                                                                    \
  X(sort, true)                                                                                    \
  X(gather, true)                                                                                  \
  X(descriptor, false)                                                                             \
  X(random, false) X(map, false) X(control, false) X(functions, false) X(dot, true)
#define X(name, shared) void family_##name(struct suite *s);
FAMILIES(X)
#undef X

#endif
