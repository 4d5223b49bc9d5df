// SPDX-License-Identifier: Apache-2.0
// Pooling over the last two dimensions.
#include "graph/reference/reference.h"

#include <math.h>

struct pool {
  const struct tensor *in;
  int64_t planes, height, width, out_height, out_width; // a plane is a channel of an image
  int64_t kernel[2], stride[2], padding[2], dilation[2];
  bool counts_padding;
  int64_t divisor; // 0: the window's size
  struct tensor *out, *positions;
};

static struct pool begin(const struct tensor *in, const struct tensor *out) {
  struct pool p = {.in = in, .planes = 1, .dilation = {1, 1}};
  for (uint32_t d = 0; d + 2 < in->rank; d++)
    p.planes *= in->shape[d];
  p.height = in->shape[in->rank - 2];
  p.width = in->shape[in->rank - 1];
  p.out_height = out->shape[out->rank - 2];
  p.out_width = out->shape[out->rank - 1];
  return p;
}

// Parameters 1, 2, 3: kernel, stride (that of the kernel if empty), padding.
static void windows(const struct reference_call *c, struct pool *p) {
  const struct arg *list;
  call_extents(c, 1, 2, 1, p->kernel);
  if (node_is_none(c->node, 2) || node_list(c->node, 2, &list) == 0)
    memcpy(p->stride, p->kernel, sizeof p->stride);
  else
    call_extents(c, 2, 2, 1, p->stride);
  call_extents(c, 3, 2, 0, p->padding);
}

static bool check(const struct reference_call *c, const struct tensor *in) {
  return in->rank >= 2 || call_fail(c, "an image has two dimensions at least");
}

// ---- maximum ----

static void max_plane(void *user, int64_t plane) {
  const struct pool *p = user;
  const union element *in = p->in->at + plane * p->height * p->width;
  for (int64_t o = 0; o < p->out_height * p->out_width; o++) {
    double best = -HUGE_VAL;
    int64_t where = -1;
    for (int64_t w = 0; w < p->kernel[0] * p->kernel[1]; w++) {
      const int64_t y = o / p->out_width * p->stride[0] - p->padding[0] +
                        w / p->kernel[1] * p->dilation[0],
                    x = o % p->out_width * p->stride[1] - p->padding[1] +
                        w % p->kernel[1] * p->dilation[1];
      if (y < 0 || y >= p->height || x < 0 || x >= p->width)
        continue;
      const double value = in[y * p->width + x].real;
      if (where < 0 || value > best || isnan(value)) {
        best = value;
        where = y * p->width + x;
      }
    }
    const int64_t at = plane * p->out_height * p->out_width + o;
    if (p->out)
      p->out->at[at].real = best;
    if (p->positions)
      p->positions->at[at].integer = where;
  }
}

// self:0 kernel_size:1 stride:2 padding:3 dilation:4 ceil_mode:5
bool reference_max_pool2d(struct reference_call *c) {
  const struct tensor *in = call_tensor(c, 0);
  if (!check(c, in))
    return false;
  struct pool p = begin(in, c->out[0] ? c->out[0] : c->out[1]);
  windows(c, &p);
  call_extents(c, 4, 2, 1, p.dilation);
  p.out = c->out[0];
  p.positions = c->out[1];
  call_for(c, p.planes, p.out_height * p.out_width * p.kernel[0] * p.kernel[1], max_plane, &p);
  return true;
}

// grad_output:0 self:1 ... indices:7
bool reference_max_pool2d_backward(struct reference_call *c) {
  const struct tensor *gradient = call_tensor(c, 0), *indices = call_tensor(c, 7);
  struct tensor *out = c->out[0];
  if (!check(c, out) || !check(c, gradient))
    return false;
  const struct pool p = begin(out, gradient);
  const int64_t size = p.height * p.width, out_size = p.out_height * p.out_width;
  for (int64_t i = 0; i < gradient->numel; i++) {
    const int64_t where = indices->at[i].integer;
    if (where < 0 || where >= size)
      return call_fail(c, "index %lld is out of range for an image of %lld", (long long)where,
                       (long long)size);
    out->at[i / out_size * size + where].real += gradient->at[i].real;
  }
  return true;
}

// ---- mean ----

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

static double sum_box(const struct pool *p, int64_t plane, int64_t top, int64_t bottom,
                      int64_t left, int64_t right) {
  const union element *in = p->in->at + plane * p->height * p->width;
  double sum = 0;
  for (int64_t y = top; y < bottom; y++)
    for (int64_t x = left; x < right; x++)
      sum += in[y * p->width + x].real;
  return sum;
}

static void avg_plane(void *user, int64_t plane) {
  const struct pool *p = user;
  for (int64_t o = 0; o < p->out_height * p->out_width; o++) {
    int64_t top = o / p->out_width * p->stride[0] - p->padding[0],
            left = o % p->out_width * p->stride[1] - p->padding[1];
    int64_t bottom = least(top + p->kernel[0], p->height + p->padding[0]),
            right = least(left + p->kernel[1], p->width + p->padding[1]);
    const int64_t padded = (bottom - top) * (right - left);
    top = top < 0 ? 0 : top;
    left = left < 0 ? 0 : left;
    bottom = least(bottom, p->height);
    right = least(right, p->width);
    const int64_t inside = (bottom - top) * (right - left);
    const int64_t divisor = p->divisor ? p->divisor : p->counts_padding ? padded : inside;
    p->out->at[plane * p->out_height * p->out_width + o].real =
        sum_box(p, plane, top, bottom, left, right) / (double)divisor;
  }
}

// self:0 kernel_size:1 stride:2 padding:3 ceil_mode:4 count_include_pad:5 divisor_override:6
bool reference_avg_pool2d(struct reference_call *c) {
  const struct tensor *in = call_tensor(c, 0);
  if (!check(c, in))
    return false;
  struct pool p = begin(in, c->out[0]);
  windows(c, &p);
  p.counts_padding = node_truth(c->node, 5);
  p.divisor = call_int_or(c, 6, 0);
  p.out = c->out[0];
  call_for(c, p.planes, p.out_height * p.out_width * p.kernel[0] * p.kernel[1], avg_plane, &p);
  return true;
}

static void adaptive_plane(void *user, int64_t plane) {
  const struct pool *p = user;
  for (int64_t o = 0; o < p->out_height * p->out_width; o++) {
    const int64_t y = o / p->out_width, x = o % p->out_width;
    const int64_t top = y * p->height / p->out_height, left = x * p->width / p->out_width;
    const int64_t bottom = ((y + 1) * p->height + p->out_height - 1) / p->out_height,
                  right = ((x + 1) * p->width + p->out_width - 1) / p->out_width;
    p->out->at[plane * p->out_height * p->out_width + o].real =
        sum_box(p, plane, top, bottom, left, right) / (double)((bottom - top) * (right - left));
  }
}

bool reference_adaptive_avg_pool2d(struct reference_call *c) {
  const struct tensor *in = call_tensor(c, 0);
  if (!check(c, in))
    return false;
  struct pool p = begin(in, c->out[0]);
  p.out = c->out[0];
  call_for(c, p.planes, p.height * p.width, adaptive_plane, &p);
  return true;
}
