// SPDX-License-Identifier: Apache-2.0
// Shared by the files of the parser: its state, and names by scope.
#ifndef TILE_SIMULATOR_PARSE_H
#define TILE_SIMULATOR_PARSE_H

#include "ptx-simulator/module.h"
#include "ptx-simulator/ptx_lexer.h"

// `{ ... }` inside a function: its registers, variables and labels.
struct scope {
  struct scope *parent;
  struct map names;              // struct binding
  struct map labels;             // struct label
  VEC(struct operand *) pending; // names that may be labels
};

// `count` registers ("%r<6>" is stored as "%r<"), or a variable.
struct binding {
  unsigned reg, count;
  struct variable *variable;
};

// A label's position, or the list of a `.branchtargets`.
struct label {
  unsigned at;
  struct operand *targets;
  unsigned target_count;
};

struct parser {
  struct arena *arena;
  struct lexer lexer;
  struct sim_module *module;
  struct function *function;
  struct scope *scope; // NULL outside of functions
  unsigned nesting;
  struct sim_source source; // of the last .loc
  unsigned source_file;
};

bool parse_error_at(struct parser *p, const struct operand *at, const char *what);
// "WHAT, found 'TOKEN'" at the next token. Always false.
bool parse_unexpected(struct parser *p, const char *what);
bool parse_integer(struct parser *p, uint64_t *ret);
struct str parse_name(struct parser *p); // empty after an error
void skip_line(struct parser *p);        // up to the first token of the next line

// Bits of ".b32"; 0 if it is no type.
unsigned ptx_type_bits(struct str directive);
enum sim_space space_of_directive(struct str directive); // ".shared"; SIM_NO_SPACE for none

// `.shared .align 16 .b8 name[64], ...;`, after the first directive.
bool parse_variables(struct parser *p, enum sim_space space, bool is_extern);
// One parameter of a function, allocated in the space at *bytes.
struct variable *parse_param(struct parser *p, uint64_t *bytes);
bool parse_body(struct parser *p); // after `{`
bool parse_operand(struct parser *p, struct operand *ret);
bool parse_guard(struct parser *p, struct operand *ret);
bool ptx_parse_statement(struct parser *p);
void bind_variable(struct parser *p, struct variable *v);
const struct binding *find_binding(const struct parser *p, struct str name, unsigned *ret_reg);
unsigned special_named(struct str name); // enum special + 1; 0: none

#endif
