// SPDX-License-Identifier: Apache-2.0
// A module and everything a run of passes over it needs, for the tests of passes.
#ifndef TEST_LOWERING_PASS_SESSION_H
#define TEST_LOWERING_PASS_SESSION_H

#include "lowering/pass.h"

struct pass_session {
  struct arena *arena;
  struct diag_engine *diag;
  struct pass_context context;
  struct strbuf log;
};

struct pass_session pass_session_open(const char *text); // fails the test if it is no sound module
// Replaces the module, in the same context. Takes `m`.
void pass_session_replace(struct pass_session *s, MlirModule m);
void pass_session_close(struct pass_session *s);
bool pass_session_run(struct pass_session *s, struct pass_options options, bool *ret_stopped);
char *pass_session_text(struct pass_session *s); // the module's, on the arena

// Op number `n` (from 0) of that kind in the module, in program order; fails the test without one.
MlirOperation pass_session_op(const struct pass_session *s, enum op_id id, unsigned n);

#endif
