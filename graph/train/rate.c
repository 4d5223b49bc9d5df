// SPDX-License-Identifier: Apache-2.0
// Learning rates as values of the graph, so that a step needs no number of the host.
#include "graph/train/trainer_internal.h"

#include <math.h>

static const char *wrong(const tile_schedule *s, const tile_value *step) {
  if ((unsigned)s->decay > TILE_DECAY_COSINE)
    return "no such decay of a learning rate";
  if (!isfinite(s->rate) || !isfinite(s->least))
    return "the learning rate is a number";
  if (s->warmup < 0 || (s->decay != TILE_DECAY_NONE && s->steps <= s->warmup))
    return "a learning rate rises before it falls: 0 <= warmup < steps";
  if (step && tile_value_rank(step) != 0)
    return "the number of steps has rank 0";
  return NULL;
}

tile_value *tile_graph_rate(tile_graph *g, const tile_schedule *s, tile_value *step) {
  if (!g || !s || !capture_is_open(g) || !capture_is_own(g, step, "the number of steps"))
    return NULL;
  const char *why = wrong(s, step);
  if (why) {
    capture_fail(g, TILE_INVALID_ARGUMENT, "%s", why);
    return NULL;
  }
  tile_value *at = tile_convert(step, TILE_F32);
  tile_value *rate = tile_full(g, NULL, 0, s->rate, TILE_F32);
  if (s->decay != TILE_DECAY_NONE) {
    double length = (double)(s->steps - s->warmup), fall = s->rate - s->least;
    tile_value *part = tile_sub_number(at, (double)s->warmup);
    part = tile_clamp(tile_mul_number(part, 1 / length), 0, 1);
    if (s->decay == TILE_DECAY_COSINE) // 1 + cos falls from 2 to 0
      part = tile_mul_number(
          tile_sub_number(tile_cos(tile_mul_number(part, 3.14159265358979324)), 1), -0.5);
    rate = tile_add_number(tile_mul_number(part, -fall), s->rate);
  }
  if (s->warmup > 0) {
    tile_value *rise = tile_mul_number(tile_add_number(at, 1), 1 / (double)s->warmup);
    rate = tile_mul(rate, tile_clamp(rise, 0, 1));
  }
  return rate;
}
