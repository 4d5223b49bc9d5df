// SPDX-License-Identifier: Apache-2.0
// Functions that the driver provides: vprintf, and __assertfail, which ends the launch.
#include "ptx-simulator/decode.h"

#include <stdio.h>

enum { MAX_LINE = 4096, MAX_SPEC = 32 };

struct extern_call {
  unsigned arguments[5], argument_count; // offsets in the lane's local memory
  unsigned result;                       // of vprintf
  bool has_result;
};

static uint64_t argument(struct warp *w, const struct op *op, unsigned lane, unsigned i,
                         unsigned bytes) {
  const struct extern_call *c = op->info;
  uint64_t value = 0;
  memcpy(&value, w->local + (size_t)lane * w->program->local_bytes + c->arguments[i], bytes);
  return value;
}

// Reads a string from global memory, at most `size` bytes with its NUL. False after a fault.
static bool read_string(struct warp *w, const struct op *op, unsigned lane, uint64_t address,
                        char *ret, size_t size) {
  for (size_t i = 0; i + 1 < size; i++) {
    struct location at;
    if (!locate(w, op, lane, SIM_GENERIC, address + i, 1, ACCESS_READ, &at))
      return false;
    ret[i] = (char)*at.bytes;
    if (!ret[i])
      return true;
  }
  ret[size - 1] = 0;
  return true;
}

// ---- vprintf ----

struct output {
  struct warp *w;
  const struct op *op;
  unsigned lane;
  uint64_t next; // address of the next argument
  char text[MAX_LINE];
  size_t size;
};

static bool next_argument(struct output *o, unsigned bytes, uint64_t *ret) {
  struct location at;
  o->next = (o->next + bytes - 1) & ~(uint64_t)(bytes - 1);
  if (!locate(o->w, o->op, o->lane, SIM_GENERIC, o->next, bytes, ACCESS_READ, &at))
    return false;
  if (o->w->undefined && shadow_read(o->w, o->op, o->lane, &at, bytes, 0))
    warn(o->w, o->op, o->lane, SIM_UNINITIALISED, NULL, NULL,
         "a value that is printed was never written");
  *ret = 0;
  memcpy(ret, at.bytes, bytes);
  o->next += bytes;
  return true;
}

static void append(struct output *o, int count) {
  size_t room = MAX_LINE - o->size;
  o->size += count < 0 ? 0 : (size_t)count < room ? (size_t)count : room - 1;
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral" // `spec` is built below
static bool print_value(struct output *o, char *spec, size_t length, unsigned longs, char kind) {
  char *to = o->text + o->size;
  size_t room = MAX_LINE - o->size;
  uint64_t value;
  if (strchr("eEfFgGaA", kind)) {
    double x;
    if (!next_argument(o, 8, &value))
      return false;
    memcpy(&x, &value, sizeof x);
    spec[length] = kind;
    append(o, snprintf(to, room, spec, x));
  } else if (kind == 's') {
    char text[256];
    if (!next_argument(o, 8, &value) ||
        !read_string(o->w, o->op, o->lane, value, text, sizeof text))
      return false;
    spec[length] = 's';
    append(o, snprintf(to, room, spec, text));
  } else if (kind == 'c') {
    if (!next_argument(o, 4, &value))
      return false;
    spec[length] = 'c';
    append(o, snprintf(to, room, spec, (int)(uint8_t)value));
  } else {
    bool wide = longs > 0 || kind == 'p';
    if (!next_argument(o, wide ? 8 : 4, &value))
      return false;
    if (!wide && (kind == 'd' || kind == 'i'))
      value = (uint64_t)(int64_t)(int32_t)value;
    memcpy(spec + length, "ll", 2);
    spec[length + 2] = kind == 'p' ? 'x' : kind;
    append(o, snprintf(to, room, spec, (unsigned long long)value));
  }
  return true;
}
#pragma GCC diagnostic pop

// Formats one conversion after `%`; *s is advanced past it.
static bool print_conversion(struct output *o, const char **s) {
  char spec[MAX_SPEC] = "%";
  size_t length = 1;
  unsigned longs = 0;
  while (**s && strchr("-+ #0123456789.", **s) && length < MAX_SPEC - 5)
    spec[length++] = *(*s)++;
  for (; **s && strchr("lhzjt", **s); (*s)++)
    longs += **s == 'l' || **s == 'z' || **s == 'j' || **s == 't';
  char kind = **s;
  if (!kind || !strchr("diouxXeEfFgGaAcsp", kind)) {
    fault(o->w, o->op, o->lane, SIM_BAD_STATE, NULL, "a conversion that vprintf does not know");
    return false;
  }
  (*s)++;
  return print_value(o, spec, length, longs, kind);
}

static bool print_line(struct output *o, const char *format) {
  while (*format && o->size + 1 < MAX_LINE) {
    char c = *format++;
    if (c == '%' && *format != '%') {
      if (!print_conversion(o, &format))
        return false;
      continue;
    }
    format += c == '%';
    o->text[o->size++] = c;
  }
  return true;
}

static void vprintf_op(struct warp *w, const struct op *op, uint32_t lanes) {
  const struct extern_call *c = op->info;
  const struct sim_launch *launch = w->run->launch;
  EACH_LANE(lane, lanes) {
    char format[MAX_LINE];
    struct output o = {.w = w, .op = op, .lane = lane, .next = argument(w, op, lane, 1, 8)};
    if (!read_string(w, op, lane, argument(w, op, lane, 0, 8), format, sizeof format) ||
        !print_line(&o, format))
      return;
    if (launch->print)
      launch->print(launch->user, o.text, o.size);
    if (c->has_result) {
      int32_t count = (int32_t)o.size;
      size_t at = (size_t)lane * w->program->local_bytes + c->result;
      memcpy(w->local + at, &count, sizeof count);
      if (w->local_shadow)
        memset(w->local_shadow + at, 1, sizeof count);
    }
  }
}

static void assertfail_op(struct warp *w, const struct op *op, uint32_t lanes) {
  unsigned lane = (unsigned)__builtin_ctz(lanes);
  char message[128], file[80];
  if (read_string(w, op, lane, argument(w, op, lane, 0, 8), message, sizeof message) &&
      read_string(w, op, lane, argument(w, op, lane, 1, 8), file, sizeof file))
    fault(w, op, lane, SIM_TRAP, NULL, "assertion failed at %s:%u: %s", file,
          (unsigned)argument(w, op, lane, 2, 4), message);
}

// ---- decoding ----

static bool local_offset(struct decoder *d, const struct operand *o, unsigned bytes,
                         unsigned *ret) {
  if (o->kind != OPERAND_VARIABLE || o->variable->space != SIM_PARAM ||
      o->variable->is_kernel_param || o->variable->bytes != bytes)
    return decode_error(d, "a value of this call is not a .param of %u bytes", bytes);
  *ret = d->layout->call_base + (unsigned)o->variable->offset;
  return true;
}

bool decode_extern_call(struct decoder *d, const struct function *f, const struct operand *results,
                        const struct operand *arguments) {
  static const struct {
    const char *name;
    unsigned sizes[5], count;
    op_fn *run;
  } known[] = {{"vprintf", {8, 8}, 2, vprintf_op},
               {"__assertfail", {8, 8, 4, 8, 8}, 5, assertfail_op}};
  struct extern_call *c = arena_new(d->arena, struct extern_call);
  size_t i = 0;
  while (i < COUNT_OF(known) && strcmp(known[i].name, f->name) != 0)
    i++;
  if (i == COUNT_OF(known))
    return decode_error(d, "the function '%s' is not defined", f->name);
  if (!arguments || arguments->item_count != known[i].count)
    return decode_error(d, "'%s' has %u parameters", f->name, known[i].count);
  c->argument_count = known[i].count;
  for (unsigned k = 0; k < known[i].count; k++)
    if (!local_offset(d, &arguments->items[k], known[i].sizes[k], &c->arguments[k]))
      return false;
  c->has_result = results && results->item_count == 1;
  if (c->has_result && !local_offset(d, &results->items[0], 4, &c->result))
    return false;
  emit(d, known[i].run, NULL, 0, c);
  return !d->failed;
}
