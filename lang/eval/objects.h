// SPDX-License-Identifier: Apache-2.0
// Values of host code. What is not known at compile time (`os.environ`, a module that is not read,
// an argument of a later launch) is an opaque value: it can be passed on, and is an error only
// where its value is needed.
#ifndef TILE_LANG_EVAL_OBJECTS_H
#define TILE_LANG_EVAL_OBJECTS_H

#include "lang/eval/eval.h"

#define HOST_MAX_VALUES (1 << 18) // in a list, nested lists included

struct opaque {
  const char *path;     // for messages: "os.environ"
  const char *argument; // the launch argument that it is or derives from, or NULL
  bool is_pointer;      // the argument itself, a pointer to `dtype`
  bool is_descriptor;   // such a tensor descriptor
  enum dtype dtype;     // DTYPE_NONE: not known
};

// Which launch options a call of Config gave; the record's last field is an index into them.
struct host_config {
  struct span span, kwargs_at; // of the call, and of its dictionary
  bool has_warps, has_stages;  // else the record has the defaults
};

// A block that host code gave a tensor descriptor: `nargs["a"].block_shape = [64, 32]`.
struct host_block {
  const char *argument;
  struct value shape;
  struct span at;
};

// The fields of the record that `@autotune(...)` evaluates to, its parameters; None where not
// given.
enum host_autotune_field {
  HOST_AUTOTUNE_CONFIGS,
  HOST_AUTOTUNE_KEY,
  HOST_AUTOTUNE_PRUNE,
  HOST_AUTOTUNE_RESET,
  HOST_AUTOTUNE_RESTORE,
  HOST_AUTOTUNE_FIELDS
};

// What host code is evaluated for.
struct purpose {
  enum diag_code code; // of errors about values that are not known
  const char *what;    // what needs it: "the list of configurations"
  const char *param;   // the parameter that gets the value, for messages; NULL: several
  VEC(struct host_config) configs;
  // Of the arguments of `@autotune`, by field, the outermost one's; SPAN_NONE: not given.
  struct span autotune_at[HOST_AUTOTUNE_FIELDS];
  VEC(struct host_block) blocks; // the last of an argument counts
};

enum host_config_field {
  HOST_CONFIG_KWARGS,
  HOST_CONFIG_WARPS,
  HOST_CONFIG_STAGES,
  HOST_CONFIG_CTAS,
  HOST_CONFIG_REGISTERS,
  HOST_CONFIG_PRE_HOOK,
  HOST_CONFIG_NUMBER,
  HOST_CONFIG_FIELDS
};
bool host_is_config(struct value v);

// A snapshot of a list or dictionary, with the `list` through which it changes.
struct value host_value(struct eval *e, struct value v);
struct value host_opaque(struct eval *e, const char *path);
struct value host_argument(struct eval *e, const char *name, bool is_pointer, enum dtype dtype);
struct value host_descriptor(struct eval *e, const char *name, enum dtype dtype);
// False for an opaque value, which is reported, and for poison.
bool need_known(struct eval *e, struct operand x);

// Whether `into`, a list or dictionary, can hold `v`; reports a container within itself and one
// that is too large.
bool host_can_hold(struct eval *e, struct value into, struct value v, struct span at);

// ---- dictionaries ----
struct value host_dict(struct eval *e);
void host_dict_put(struct eval *e, struct value dict, struct value key, struct value v);
bool host_dict_get(struct value dict, struct value key, struct value *ret);
// From pairs; a later pair replaces an earlier one with its key.
struct value host_dict_of(struct eval *e, const struct value *pairs, size_t count);
struct value host_set(struct eval *e, const struct value *at, size_t count); // a list
// The value of the key "X" in a dictionary, else None.
struct value host_dict_name(struct value dict, const char *name);

struct value *host_letters(struct eval *e, struct str s); // strings of one byte
struct value host_record(struct eval *e, const struct record *r, size_t n,
                         const struct value *fields);
// Reserves `len` elements that no other value shares.
void host_reserve(struct eval *e, struct list *l, size_t len);

#endif
