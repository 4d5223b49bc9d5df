// SPDX-License-Identifier: Apache-2.0
// The table of operators, read from graph/ir/graph_operators.def: names, parameters, rules.
#ifndef TILE_GRAPH_IR_OPERATORS_H
#define TILE_GRAPH_IR_OPERATORS_H

#include "graph/ir/graph.h"
#include "graph/ir/scalar.h"

enum operator_class {
  CLASS_POINTWISE,
  CLASS_REDUCTION,
  CLASS_VIEW,
  CLASS_SHAPE,
  CLASS_CREATE,
  CLASS_RANDOM,
  CLASS_GATHER,
  CLASS_SCATTER,
  CLASS_SCAN,
  CLASS_PRODUCT,
  CLASS_NORM,
  CLASS_ATTENTION,
  CLASS_POOL,
  CLASS_MUTATE,
  CLASS_CONTROL,
  CLASS_COMPOSED
};

enum promotion { PROMOTE_SAME, PROMOTE_FLOAT, PROMOTE_BOOL, PROMOTE_FIRST, PROMOTE_RULE };

struct parameter {
  struct str name;
  char type; // T N S i f b s d G A, as in graph_operators.def
  bool is_optional, is_list, by_name, has_default;
  bool has_optional_elements; // of a list: T?[]
  struct str default_text;
};

enum { OPERATOR_MAX_PARAMETERS = 24, OPERATOR_MANY = 0 };

// The input and output of an infer rule: `results` of the node has room for one result or as many
// as the row says; a rule of MANY allocates them by infer_results.
struct infer {
  struct graph *g;
  struct node *n;
  const struct operator_row *op;
};
typedef bool (*infer_fn)(struct infer *in);

// Appends operators that together compute `n`, which has the arguments of all parameters, and sets
// its results. NULL after an error.
struct build;
typedef void (*compose_fn)(struct build *b, struct node *n);

struct operator_row {
  enum operator_id id;
  const char *name; // "aten.add.Tensor"
  const char *parameters;
  uint32_t results; // OPERATOR_MANY: depends on the arguments
  enum operator_class class;
  enum promotion promotion;
  infer_fn infer;
  enum scalar_op scalar; // SCALAR_NONE
  compose_fn compose;    // of composed operators (graph/ir/composed.def); else NULL
  enum operator_id part; // the operator that `compose` applies, if the row has one
};

const struct operator_row *operator_row(enum operator_id id);
const char *operator_class_name(enum operator_class c);
bool operator_find(struct str name, enum operator_id *ret);
// The closest name, for "did you mean"; NULL if none is close.
const char *operator_nearest(struct str name);
// Parsed once per process; thread-safe.
const struct parameter *operator_parameters(enum operator_id id, size_t *ret_count);
// The index of the parameter of that name; -1: the operator has none.
int operator_parameter(enum operator_id id, const char *name);
// The default of a parameter, for callers that pass later parameters only.
struct arg parameter_default(struct graph *g, const struct parameter *p);

// The result dtype of a pointwise operator on these operands (values and numbers), by PyTorch's
// type promotion: tensors of rank 0 and numbers are weak within their category.
enum dtype promote(const struct arg *args, size_t count, enum promotion p);

#endif
