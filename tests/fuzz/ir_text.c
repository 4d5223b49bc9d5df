// SPDX-License-Identifier: Apache-2.0
// IR text to PTX. A RUN line in its first lines sets the passes and the target (`--passes=a,b`,
// `--target sm_90a`).
#include "source.h"

// The word after `option` and a blank or `=`, up to the next blank; NULL: not found.
static const char *word_after(struct arena *a, struct str text, const char *option) {
  const char *head = arena_strndup(a, text.ptr, text.len < 400 ? text.len : 400);
  const char *at = strstr(head, option);
  if (!at || (at[strlen(option)] != '=' && at[strlen(option)] != ' '))
    return NULL;
  at += strlen(option) + 1;
  return arena_strndup(a, at, strcspn(at, " \n"));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  struct drive d;
  if (size > SOURCE_LIMIT || !drive_begin(&d))
    return 0;
  struct str text = {arena_strndup(d.arena, (const char *)data, size), size};
  const char *target = word_after(d.arena, text, "--target");
  struct compile_request r = {.source = source_create(d.arena, "fuzz.mlir", text),
                              .target = target ? target_find(str_from(target)) : NULL,
                              .emit = EMIT_PTX,
                              .is_detached = true,
                              .passes.only = word_after(d.arena, text, "--passes")};
  if (!r.target)
    r.target = target_find(STR("sm_80"));
  if (r.target->is_cpu)
    r.emit = EMIT_LLVM;
  struct compile_result result = {0};
  bool ok = compile_mlir(d.arena, d.diag, &r, &result);
  DRIVE_CHECK(ok == (diag_error_count(d.diag) == 0));
  drive_end(&d);
  return 0;
}
