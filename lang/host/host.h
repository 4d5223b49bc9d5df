// SPDX-License-Identifier: Apache-2.0
// Python of the host, as far as decorators of kernels use it: an emitter that has a `host`
// evaluates functions, lambdas, lists and dictionaries that change, and what Triton and torch say
// of a device, and emits nothing. It stops at the first error, as Python would.
//
// What belongs to the host and is not known here (`os.environ`, a module that is not read, an
// argument of a later launch) is an opaque value: it can be passed round, and is an error only
// where its value is needed.
#ifndef TILE_LANG_HOST_HOST_H
#define TILE_LANG_HOST_HOST_H

#include "lang/emit/emitter.h"

#define TRITON_VERSION "3.6.0"    // whose language this is
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

struct host {
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
struct value host_value(struct emitter *e, struct value v);
struct value host_opaque(struct emitter *e, const char *path);
struct value host_argument(struct emitter *e, const char *name, bool is_pointer, enum dtype dtype);
// False, and reported, for an opaque value. Poison is false too.
bool need_known(struct emitter *e, struct operand x);

// Whether `into`, a list or dictionary, can take `v`: not itself, nor what is too large. Else
// reported.
bool host_can_hold(struct emitter *e, struct value into, struct value v, struct span at);

// ---- dictionaries ----
struct value host_dict(struct emitter *e);
void host_dict_put(struct emitter *e, struct value dict, struct value key, struct value v);
bool host_dict_get(struct value dict, struct value key, struct value *ret);
// Of pairs; a later one replaces an earlier one of its key.
struct value host_dict_of(struct emitter *e, const struct value *pairs, size_t count);
// dict(a=1, **other)
struct value host_dict_call(struct emitter *e, const struct operand *args, const char *const *names,
                            size_t count);
struct value host_dict_display(struct emitter *e, const struct expr *x);        // {a: b, **c}
struct value host_set(struct emitter *e, const struct value *at, size_t count); // a list
// "X" of a dictionary, None where it is not.
struct value host_dict_name(struct value dict, const char *name);

// ---- names ----
// A name that an import binds to something of the host; a function of Python's own.
bool host_name(struct emitter *e, const char *name, struct value *ret);
// `x.name` where the language has nothing else to say of it.
bool host_attribute(struct emitter *e, struct operand x, const char *name, struct value *ret);
const struct builtin *host_method(struct value v, const char *name);
// A function of the language that host code may call.
bool host_allows(const struct builtin *b);

// ---- expressions and statements ----
struct value *host_letters(struct emitter *e, struct str s); // strings of one byte
struct value host_lambda(struct emitter *e, const struct expr *x);
struct value host_call_opaque(struct emitter *e, struct operand callee);
// A comparison with an opaque value.
struct value host_compare(struct emitter *e, enum ast_op op, struct operand a, struct operand b);
// `x[key] = v`, `config.num_warps = v`; false: nothing that can be assigned.
bool host_store(struct emitter *e, const struct expr *target, struct value v);
void host_import(struct emitter *e, const struct stmt *s);

#endif
