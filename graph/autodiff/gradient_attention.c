// SPDX-License-Identifier: Apache-2.0
// The rule of attention: recomputes the weights from the sums of each row (Dao, FlashAttention-2,
// arXiv:2307.08691, algorithm 2).
#include "graph/autodiff/gradient_rules.h"

static struct arg argument(const struct node *n, const char *name) {
  int i = operator_parameter(n->op, name);
  return i < 0 ? (struct arg){0} : n->args[i];
}

// A mask with a gradient (a learned bias), and gradients of the sums: by products and softmax.
static bool is_plain(const struct gradient *d, const struct node *n, struct arg mask,
                     struct value *const *g) {
  for (uint32_t i = 1; i < n->result_count; i++)
    if (g[i])
      return false;
  return mask.kind != ARG_VALUE || !gradient_wants(d, mask.value);
}

static void give_gradients(struct gradient *d, const struct node *n, enum operator_id op,
                           const struct arg *args, size_t count) {
  struct node *all = graph_append(d->b.g, op, args, count, d->b.at);
  for (unsigned i = 0; i < 3; i++)
    gradient_give(d, n, i, all ? all->results[i] : NULL);
}

void rule_attention(struct gradient *d, const struct node *n, struct value *const *g) {
  struct build *b = &d->b;
  struct arg mask = argument(n, "attn_mask"), causal = argument(n, "is_causal"),
             scale = argument(n, "scale"), dropout = argument(n, "dropout_p");
  if (mask.kind == ARG_NONE)
    mask = argument(n, "attn_bias");
  if (!is_plain(d, n, mask, g)) {
    gradient_expand(d, n, g);
    return;
  }
  if (n->op == OP_TILE_DROPOUT_ATTENTION) {
    struct arg args[] = {
        TENSOR(g[0]),          n->args[0],          n->args[1], n->args[2], TENSOR(n->results[0]),
        TENSOR(n->results[1]), argument(n, "kept"), causal,     mask,       scale};
    give_gradients(d, n, OP_TILE_DROPOUT_ATTENTION_BACKWARD, args, COUNT_OF(args));
    return;
  }
  // Other variants save other things, or nothing: this node equals theirs once decomposed.
  struct arg forward[] = {n->args[0], n->args[1], n->args[2], dropout, causal, mask, scale};
  struct node *saved = n->op == OP_SDPA_CPU
                           ? (struct node *)(uintptr_t)n
                           : graph_append(b->g, OP_SDPA_CPU, forward, COUNT_OF(forward), b->at);
  if (!saved) {
    d->failed = true;
    return;
  }
  struct arg args[] = {TENSOR(g[0]),
                       n->args[0],
                       n->args[1],
                       n->args[2],
                       TENSOR(saved->results[0]),
                       TENSOR(saved->results[1]),
                       dropout,
                       causal,
                       mask,
                       scale};
  give_gradients(d, n, OP_SDPA_CPU_BACKWARD, args, COUNT_OF(args));
}
