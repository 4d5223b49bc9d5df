// SPDX-License-Identifier: Apache-2.0
// Convolutions in any number of dimensions, as matrix products with windows unfolded into columns
// (im2col). One geometry serves all: a wide side (input of a convolution, output of a transposed
// one) and a narrow side, with weights [narrow channels, wide channels / groups, window].
#include "base/memory.h"
#include "graph/reference/reference.h"

#include <stdlib.h>

enum { MAX_SPACE = GRAPH_MAX_RANK - 2 };

struct convolution {
  uint32_t rank; // spatial dimensions
  int64_t images, groups;
  int64_t wide_channels, narrow_channels; // per group
  int64_t wide[MAX_SPACE], narrow[MAX_SPACE], window[MAX_SPACE];
  int64_t stride[MAX_SPACE], padding[MAX_SPACE], dilation[MAX_SPACE];
  int64_t wide_size, narrow_size, window_size; // products of the above
  union element *wide_at, *narrow_at, *weight_at;
  bool failed; // out of memory
};

static int64_t product_of(uint32_t rank, const int64_t *of) {
  int64_t product = 1;
  for (uint32_t d = 0; d < rank; d++)
    product *= of[d];
  return product;
}

// `first` is the parameter of the strides; padding and dilation follow.
static struct convolution geometry(const struct reference_call *c, const struct tensor *wide,
                                   const struct tensor *narrow, const struct tensor *weight,
                                   unsigned first, int64_t groups) {
  struct convolution v = {.rank = weight->rank - 2, .images = 1, .groups = groups};
  const uint32_t skip = wide->rank - v.rank; // an image without batch has one dimension less
  v.images = skip == 2 ? wide->shape[0] : 1;
  v.wide_channels = weight->shape[1];
  v.narrow_channels = weight->shape[0] / groups;
  for (uint32_t d = 0; d < v.rank; d++) {
    v.wide[d] = wide->shape[skip + d];
    v.narrow[d] = narrow->shape[skip + d];
    v.window[d] = weight->shape[2 + d];
  }
  call_extents(c, first, v.rank, 1, v.stride);
  call_extents(c, first + 1, v.rank, 0, v.padding);
  call_extents(c, first + 2, v.rank, 1, v.dilation);
  v.wide_size = product_of(v.rank, v.wide);
  v.narrow_size = product_of(v.rank, v.narrow);
  v.window_size = product_of(v.rank, v.window);
  v.wide_at = wide->at;
  v.narrow_at = narrow->at;
  v.weight_at = weight->at;
  return v;
}

// The offset on the wide side of window element w for narrow position p; -1: in the padding.
// padding.
static int64_t wide_offset(const struct convolution *v, int64_t p, int64_t w) {
  int64_t offset = 0, scale = 1;
  for (uint32_t d = v->rank; d-- > 0;) {
    const int64_t at =
        p % v->narrow[d] * v->stride[d] - v->padding[d] + w % v->window[d] * v->dilation[d];
    p /= v->narrow[d];
    w /= v->window[d];
    if (at < 0 || at >= v->wide[d])
      return -1;
    offset += at * scale;
    scale *= v->wide[d];
  }
  return offset;
}

static int64_t column_rows(const struct convolution *v) {
  return v->wide_channels * v->window_size;
}

static union element *wide_part(const struct convolution *v, int64_t image, int64_t group) {
  return v->wide_at + (image * v->groups + group) * v->wide_channels * v->wide_size;
}

static struct matrix narrow_part(const struct convolution *v, int64_t image, int64_t group) {
  return (struct matrix){v->narrow_at +
                             (image * v->groups + group) * v->narrow_channels * v->narrow_size,
                         v->narrow_size, 1};
}

static struct matrix weight_part(const struct convolution *v, int64_t group) {
  return (struct matrix){v->weight_at + group * v->narrow_channels * column_rows(v), column_rows(v),
                         1};
}

// Row (channel, w), column p: the wide element under window element w at position p.
static void gather_columns(const struct convolution *v, const union element *wide,
                           union element *columns) {
  for (int64_t w = 0; w < v->window_size; w++)
    for (int64_t p = 0; p < v->narrow_size; p++) {
      const int64_t offset = wide_offset(v, p, w);
      for (int64_t channel = 0; channel < v->wide_channels; channel++)
        columns[(channel * v->window_size + w) * v->narrow_size + p].real =
            offset < 0 ? 0 : wide[channel * v->wide_size + offset].real;
    }
}

static void scatter_columns(const struct convolution *v, const union element *columns,
                            union element *wide) {
  for (int64_t w = 0; w < v->window_size; w++)
    for (int64_t p = 0; p < v->narrow_size; p++) {
      const int64_t offset = wide_offset(v, p, w);
      for (int64_t channel = 0; offset >= 0 && channel < v->wide_channels; channel++)
        wide[channel * v->wide_size + offset].real +=
            columns[(channel * v->window_size + w) * v->narrow_size + p].real;
    }
}

static union element *make_columns(struct convolution *v) {
  union element *columns =
      memory_zeroed((size_t)(column_rows(v) * v->narrow_size) + 1, sizeof(union element));
  if (!columns)
    v->failed = true;
  return columns;
}

// narrow += weight * columns(wide)
static void to_narrow(void *user, int64_t i) {
  struct convolution *v = user;
  union element *columns = make_columns(v);
  if (!columns)
    return;
  gather_columns(v, wide_part(v, i / v->groups, i % v->groups), columns);
  matrix_product(NULL, true, v->narrow_channels, v->narrow_size, column_rows(v),
                 weight_part(v, i % v->groups), (struct matrix){columns, v->narrow_size, 1},
                 narrow_part(v, i / v->groups, i % v->groups));
  free(columns);
}

// wide += scatter(transpose(weight) * narrow)
static void to_wide(void *user, int64_t i) {
  struct convolution *v = user;
  union element *columns = make_columns(v);
  if (!columns)
    return;
  const struct matrix weight = weight_part(v, i % v->groups);
  matrix_product(NULL, true, column_rows(v), v->narrow_size, v->narrow_channels,
                 (struct matrix){weight.p, weight.column, weight.row},
                 narrow_part(v, i / v->groups, i % v->groups),
                 (struct matrix){columns, v->narrow_size, 1});
  scatter_columns(v, columns, wide_part(v, i / v->groups, i % v->groups));
  free(columns);
}

// weight += narrow * transpose(columns(wide)), over all images
static void to_weight(void *user, int64_t group) {
  struct convolution *v = user;
  union element *columns = make_columns(v);
  for (int64_t image = 0; columns && image < v->images; image++) {
    gather_columns(v, wide_part(v, image, group), columns);
    matrix_product(NULL, true, v->narrow_channels, column_rows(v), v->narrow_size,
                   narrow_part(v, image, group), (struct matrix){columns, 1, v->narrow_size},
                   weight_part(v, group));
  }
  free(columns);
}

static bool finish(const struct reference_call *c, const struct convolution *v) {
  return !v->failed || call_fail(c, "out of memory for the windows");
}

static bool all_images(const struct reference_call *c, struct convolution *v,
                       void (*body)(void *user, int64_t i)) {
  call_for(c, v->images * v->groups, v->narrow_size * column_rows(v), body, v);
  return finish(c, v);
}

static bool all_groups(const struct reference_call *c, struct convolution *v) {
  call_for(c, v->groups, v->images * v->narrow_size * column_rows(v), to_weight, v);
  return finish(c, v);
}

static bool check(const struct reference_call *c, const struct tensor *weight, int64_t groups) {
  if (groups < 1 || weight->rank < 3)
    return call_fail(c, "a convolution takes a window of at least one dimension, and groups");
  return dtype_is_float(weight->dtype) || call_fail(c, "integers are not supported here");
}

// Parameters 3 on: stride padding dilation transposed output_padding groups.
bool reference_convolution(struct reference_call *c) {
  const struct tensor *in = call_tensor(c, 0), *weight = call_tensor(c, 1),
                      *bias = call_tensor(c, 2);
  struct tensor *out = c->out[0];
  const int64_t groups = call_int(c, 8);
  if (!check(c, weight, groups))
    return false;
  const bool transposed = node_truth(c->node, 6);
  struct convolution v = transposed ? geometry(c, out, in, weight, 3, groups)
                                    : geometry(c, in, out, weight, 3, groups);
  const int64_t size = transposed ? v.wide_size : v.narrow_size;
  for (int64_t i = 0; bias && i < out->numel; i++)
    out->at[i] = bias->at[i / size % bias->numel];
  return all_images(c, &v, transposed ? to_wide : to_narrow);
}

// The sum of each channel.
static void bias_gradient(const struct tensor *gradient, int64_t size, struct tensor *out) {
  for (int64_t i = 0; i < gradient->numel; i++)
    out->at[i / size % out->numel].real += gradient->at[i].real;
}

bool reference_convolution_backward(struct reference_call *c) {
  const struct tensor *gradient = call_tensor(c, 0), *in = call_tensor(c, 1),
                      *weight = call_tensor(c, 2);
  const int64_t groups = call_int(c, 9);
  if (!check(c, weight, groups))
    return false;
  const bool transposed = node_truth(c->node, 7);
  struct convolution v = transposed ? geometry(c, gradient, in, weight, 4, groups)
                                    : geometry(c, in, gradient, weight, 4, groups);
  if (c->out[2])
    bias_gradient(gradient, transposed ? v.wide_size : v.narrow_size, c->out[2]);
  if (c->out[1]) {
    v.weight_at = c->out[1]->at;
    if (!all_groups(c, &v))
      return false;
    v.weight_at = weight->at;
  }
  if (!c->out[0])
    return true;
  if (transposed)
    v.narrow_at = c->out[0]->at;
  else
    v.wide_at = c->out[0]->at;
  return all_images(c, &v, transposed ? to_narrow : to_wide);
}

bool reference_convolution_grad_input(struct reference_call *c) {
  const struct tensor *weight = call_tensor(c, 2);
  const int64_t groups = call_int(c, 6);
  if (!check(c, weight, groups))
    return false;
  struct convolution v = geometry(c, c->out[0], call_tensor(c, 0), weight, 3, groups);
  return all_images(c, &v, to_wide);
}

bool reference_convolution_grad_weight(struct reference_call *c) {
  const int64_t groups = call_int(c, 6);
  if (!check(c, c->out[0], groups))
    return false;
  struct convolution v = geometry(c, call_tensor(c, 2), call_tensor(c, 0), c->out[0], 3, groups);
  return all_groups(c, &v);
}
