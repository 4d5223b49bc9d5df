// SPDX-License-Identifier: Apache-2.0
// Building a space, shared by its sources: texts, files, decorators, derivation. Dimensions and
// values are added first, in any order; space_sort() fixes their order, and then configurations are
// added.
#ifndef TILE_AUTOTUNE_SPACE_SPACE_BUILD_H
#define TILE_AUTOTUNE_SPACE_SPACE_BUILD_H

#include "autotune/space/space.h"
#include "base/map.h"
#include "base/vec.h"

struct space_builder {
  struct arena *a;
  struct diag_engine *diag;
  const struct lang_param *params; // of the kernel
  size_t param_count;
  struct tune_space *s;
  VEC(const char *) values[TUNE_MAX_DIMS]; // by dimension
  struct map spellings;                    // "dimension:value" of all values
  struct map seen;                         // configurations, by their bytes
  size_t cap;                              // of s->configs
};

struct space_builder space_begin(struct arena *a, struct diag_engine *diag,
                                 const struct lang_param *params, size_t param_count,
                                 const char *origin, struct tune_space *ret);
// The dimension of that name, added if needed. False with a diagnostic for an unknown name (E0728),
// or for too many dimensions (E0729).
bool space_dim(struct space_builder *b, struct span at, struct str name, size_t *ret_dim);
// Adds a value to a dimension; of equal ones the first stays. False with a diagnostic (E0727).
bool space_value(struct space_builder *b, struct span at, size_t dim, struct str text);
bool space_integer(struct space_builder *b, struct span at, size_t dim, int64_t value);
// The canonical spelling of values: integers in decimal, trimmed.
const char *space_spelling(struct arena *a, struct str text);
// The default of a dimension; NULL: unknown.
const char *space_default(const struct space_builder *b, const struct tune_dim *dim);
void space_sort(struct space_builder *b);
// Index of a spelling among a dimension's values; their count if it is not there.
size_t space_index(const struct tune_dim *dim, const char *spelling);
// Appends a configuration unless it exists.
void space_put(struct space_builder *b, const struct tune_config *config);
// Whether the product of all dimensions is small enough.
bool space_fits(const struct space_builder *b);
// Appends the product of all dimensions, except what `accept` (may be NULL) rejects. False with a
// diagnostic (E0729) when there are too many.
bool space_product(struct space_builder *b, struct span at,
                   bool (*accept)(void *user, const struct tune_config *config), void *user);
// The configuration of defaults; middle values where the default is no value.
struct tune_config space_default_config(const struct space_builder *b);
// Moves a configuration to the front, or inserts it there.
void space_put_first(struct space_builder *b, const struct tune_config *config);
// One configuration of a list, with its settings.
struct space_pair {
  struct span at;
  struct str name, text;
};
struct space_entry {
  struct span at;
  struct space_pair *pairs;
  size_t count;
};
// Builds the space of a list. Names that an entry omits have their default; false with a diagnostic
// (E0727, and as space_dim) if there is none. The first entry with the kernel's own defaults is
// moved to the front.
bool space_list(struct space_builder *b, const struct space_entry *entries, size_t count);

#endif
