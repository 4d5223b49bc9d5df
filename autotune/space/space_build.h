// SPDX-License-Identifier: Apache-2.0
// Putting a space together, shared by its sources: texts, files, decorators, derivation. Dimensions
// and values first, in any order; space_sort() settles both, and then come the configurations.
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
// The dimension of that name, made if need be. False with a diagnostic for a name that the kernel
// has not (E0728), or for one dimension too many (E0729).
bool space_dim(struct space_builder *b, struct span at, struct str name, size_t *ret_dim);
// One more value of a dimension; of equal ones the first stays. False with a diagnostic (E0727).
bool space_value(struct space_builder *b, struct span at, size_t dim, struct str text);
bool space_integer(struct space_builder *b, struct span at, size_t dim, int64_t value);
// The spelling by which values are compared: integers in decimal, without spaces around.
const char *space_spelling(struct arena *a, struct str text);
// What a dimension is where nothing is said; NULL: unknown.
const char *space_default(const struct space_builder *b, const struct tune_dim *dim);
void space_sort(struct space_builder *b);
// Index of a spelling among a dimension's values; its count if it is not there.
size_t space_index(const struct tune_dim *dim, const char *spelling);
// Appends a configuration that is not there yet.
void space_put(struct space_builder *b, const struct tune_config *config);
// Is the product of all dimensions small enough?
bool space_fits(const struct space_builder *b);
// Appends the product of all dimensions, without what `accept` (may be NULL) refuses. False with a
// diagnostic (E0729) when there are too many.
bool space_product(struct space_builder *b, struct span at,
                   bool (*accept)(void *user, const struct tune_config *config), void *user);
// The configuration of defaults, middle values where they are no values.
struct tune_config space_default_config(const struct space_builder *b);
// Moves a configuration to the front, or puts it there.
void space_put_first(struct space_builder *b, const struct tune_config *config);
// One configuration of a list, and what it says.
struct space_pair {
  struct span at;
  struct str name, text;
};
struct space_entry {
  struct span at;
  struct space_pair *pairs;
  size_t count;
};
// The space that the list is. What an entry leaves out is the default there; false with a
// diagnostic (E0727, and as space_dim) where there is none. The first entry with the kernel's own
// defaults comes to the front.
bool space_list(struct space_builder *b, const struct space_entry *entries, size_t count);

#endif
