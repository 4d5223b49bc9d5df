// SPDX-License-Identifier: Apache-2.0
// Values of Python of the host. What belongs to the host and is not known here (`os.environ`, a
// module that is not read, an argument of a later launch) is an opaque value: it can be passed
// round, and is an error only where its value is needed.
#ifndef TILE_LANG_EVAL_OBJECTS_H
#define TILE_LANG_EVAL_OBJECTS_H

#include "lang/eval/eval.h"

#define HOST_MAX_VALUES (1 << 18) // in a list and those within it

struct opaque {
  const char *path;     // as messages call it: "os.environ"
  const char *argument; // of the launch it stands for, or NULL
  bool is_pointer;      // the argument itself, a pointer to `dtype`
  enum dtype dtype;     // DTYPE_NONE: not known
};

// What a call of Config said, by the number that the record has in its last field.
struct host_config {
  struct span span;
  bool has_warps, has_stages; // else the record has the defaults
};

// What Python of the host is evaluated for.
struct purpose {
  enum diag_code code; // of what is not known
  const char *what;    // what needs it: "the list of configurations"
  const char *param;   // that it gives a value to, for messages; NULL: several
  VEC(struct host_config) configs;
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

// What `@autotune(...)` evaluates to: its parameters, in the order of the fields; None where not
// given.
enum host_autotune_field {
  HOST_AUTOTUNE_CONFIGS,
  HOST_AUTOTUNE_KEY,
  HOST_AUTOTUNE_PRUNE,
  HOST_AUTOTUNE_RESET,
  HOST_AUTOTUNE_RESTORE,
  HOST_AUTOTUNE_FIELDS
};

// A tuple or dictionary as it is now, with a `list` through which it changes.
struct value host_value(struct eval *e, struct value v);
struct value host_opaque(struct eval *e, const char *path);
struct value host_argument(struct eval *e, const char *name, bool is_pointer, enum dtype dtype);
// False, and reported, for an opaque value. Poison is false too.
bool need_known(struct eval *e, struct operand x);

// Whether `into`, a list or dictionary, can take `v`: not itself, nor what is too large. Else
// reported.
bool host_can_hold(struct eval *e, struct value into, struct value v, struct span at);

// ---- dictionaries ----
struct value host_dict(struct eval *e);
void host_dict_put(struct eval *e, struct value dict, struct value key, struct value v);
bool host_dict_get(struct value dict, struct value key, struct value *ret);
// Of pairs; a later one replaces an earlier one of its key.
struct value host_dict_of(struct eval *e, const struct value *pairs, size_t count);
struct value host_set(struct eval *e, const struct value *at, size_t count); // a list
// "X" of a dictionary, None where it is not.
struct value host_dict_name(struct value dict, const char *name);

struct value *host_letters(struct eval *e, struct str s); // strings of one byte
struct value host_record(struct eval *e, const struct record *r, size_t n,
                         const struct value *fields);
// Room for `len` elements that nothing else shares.
void host_reserve(struct eval *e, struct list *l, size_t len);

#endif
