// SPDX-License-Identifier: Apache-2.0
// The simulated machine: programs of decoded operations, and the state of a run, its CTAs and
// warps. An operation executes for all active lanes of a warp at once.
//
// The lanes of a warp form groups: lanes of one group are at the same instruction and run together.
// The group at the lowest instruction runs first, so that diverged groups reconverge where their
// branches join; groups at the same instruction merge. At a `*.sync` instruction or barrier a group
// is blocked until the other lanes have arrived.
#ifndef TILE_SIMULATOR_MACHINE_H
#define TILE_SIMULATOR_MACHINE_H

#include "ptx-simulator/module.h"
#include "ptx-simulator/vector_clock.h"

struct warp;
struct op;
struct cluster;

// ---- programs ----

enum { NO_SLOT = -1 };

enum special {
#define SPECIAL(name, id, bits) SPECIAL_##id,
#include "ptx-simulator/specials.def"
#undef SPECIAL
  SPECIAL_COUNT
};

typedef void op_fn(struct warp *w, const struct op *op, uint32_t lanes);

// One operation. Slots are rows of 32 words in the warp's registers; slots of constants and of most
// special registers are initialised once.
struct op {
  op_fn *run;
  int32_t guard;       // slot of the guard predicate, or NO_SLOT
  uint32_t guard_flip; // all ones if the guard is negated
  const int32_t *slots;
  const void *info; // data of the operation's family
  const struct instruction *in;
  const struct wgmma_registers *wgmma; // registers of products that it names, or NULL
};

// A slot whose value each warp gets when it is created or read: a special register (enum special),
// or the address of a shared variable, its offset and the CTA's rank in its cluster.
struct filled_slot {
  int32_t slot;
  uint64_t of;
};

// An entry point with all functions that it calls, callees first.
struct program {
  struct sim_kernel kernel; // first: a kernel is cast to its program
  const struct sim_module *module;
  VEC(struct op) code;
  unsigned entry;
  unsigned slot_count, register_count; // registers are the slots below register_count
  const uint64_t *constants;           // values of the slots after the registers
  const struct filled_slot *specials;
  size_t special_count;
  const struct filled_slot *shared_slots;
  size_t shared_slot_count;
  unsigned local_bytes;     // of a lane: stack depots, then parameters of calls
  unsigned wgmma_registers; // how many registers products have
  bool makes_maps;          // it has fences of tensor maps (map_fences.h)
  bool has_fences;          // it has fences, which may order relaxed accesses
};

// ---- windows of the generic address space ----

#define MODULE_WINDOW ((uint64_t)0x7c << 56) // variables in global and constant memory
#define PARAM_WINDOW ((uint64_t)0x7d << 56)
#define LOCAL_WINDOW ((uint64_t)0x7e << 56)
#define SHARED_WINDOW ((uint64_t)0x7f << 56)
#define WINDOW_BYTES ((uint64_t)1 << 32)

// ---- state ----

enum group_state {
  GROUP_READY,
  GROUP_SYNC,
  GROUP_BARRIER,
  GROUP_MBARRIER,
  GROUP_REGISTERS,
  GROUP_CLUSTER
};

struct group {
  uint32_t pc, mask;
  enum group_state state;
  uint32_t wait_mask; // GROUP_SYNC: the lanes it waits for
  unsigned barrier;   // GROUP_BARRIER, GROUP_MBARRIER: its number
  bool aligned;       // GROUP_SYNC: the instruction requires the whole warp
};

// A cp.async whose data has not been written yet.
struct pending_copy {
  unsigned lane, bytes;
  uint32_t group;  // the group that it was, or will be, committed to
  uint32_t offset; // in shared memory
  uint32_t serial; // among those of the warp
  const struct op *op;
  uint32_t undefined_bytes;
  uint8_t data[16];
};

// An accumulator of pending wgmma products: its value so far, [word][lane].
struct product_chain {
  unsigned words;
  const int32_t *slots;
  uint64_t *acc;
  struct product_chain *next_idle;
};

// A wgmma.mma_async that has not been waited for.
struct pending_product {
  const struct op *op;
  struct product_chain *chain;
  uint64_t a, b; // descriptors
  bool adds;     // scale-d
  // With `check`: hashes of A and B in memory and of their writers at issue.
  uint64_t source[2];
  uint32_t group; // the group that it was, or will be, committed to
};

struct warp {
  struct run *run;
  struct cta *cta;
  const struct program *program;
  unsigned index; // in the CTA
  unsigned id;    // in the cluster: its entry in the clocks
  uint64_t (*regs)[SIM_LANES];

  // The running group; its mask is 0 if none runs. `limit` is the lowest instruction of another
  // ready group.
  uint32_t pc, mask, limit;
  bool stop; // ends the slice after this operation
  struct group others[SIM_LANES];
  unsigned other_count;
  uint32_t live, started;        // lanes that have not exited; lanes that exist
  const struct mbarrier *polled; // whose phase a test_wait found incomplete last; NULL: none
  uint64_t streak;               // operations since another group ran
  // Lanes that have arrived at the barrier of the cluster, in this phase and in the last one, and
  // not waited.
  uint32_t cluster_arrived, cluster_passed;

  uint8_t *local; // [lane][program->local_bytes]
  VEC(struct pending_copy) copies;
  uint32_t commits[SIM_LANES]; // groups committed
  uint32_t copy_serial;
  uint32_t bulk_commits[SIM_LANES]; // groups of bulk stores committed
  VEC(struct pending_product) products;
  uint32_t product_commits;
  struct product_chain *idle_chains;

  // With `check`: which bytes of a slot's lanes are undefined, and the operations they come from.
  uint32_t *undefined; // [slot]: lanes with an undefined byte
  uint8_t (*undefined_bytes)[SIM_LANES];
  const struct op **origin; // [slot]
  uint8_t *local_shadow;
  struct clock_entry *clock;        // of this warp
  struct clock_entry *fence_clock;  // `clock` at the warp's last fence.proxy.async
  uint32_t proxy_fences[SIM_LANES]; // how many a lane has executed
  uint32_t init_fences[SIM_LANES];  // the same, and of fence.mbarrier_init
  uint32_t map_releases[SIM_LANES]; // release fences of tensor maps
  bool is_fenced;                   // it has executed a wgmma.fence
  const struct op **touched;        // [register of products]: who accessed it since that fence
  uint64_t **unwritten;             // [operation]: unwritten addresses that its lanes read; or NULL

  // With `check`, used by global.c.
  uint32_t *events;            // [operation]: number of the last event
  uint32_t acquired, released; // release numbers: the last acquired, the last of this warp
  bool has_news;               // since `released`
  const struct op *last_op;    // the last operation on global memory, and its lane
  unsigned last_lane;
};

struct barrier {
  unsigned expected; // threads; 0: all of the CTA
  unsigned arrived;  // warps
  uint32_t arrived_warps;
  uint64_t true_count; // bar.red: lanes with a true predicate
  uint64_t lane_count;
  const struct op *op;       // of the first arrival
  struct clock_entry *clock; // join of those that arrived
  uint32_t acquired;         // the same, of global memory's releases
  // [warp]: its clock when it arrived in this phase, and in the last complete one; 0: it did not.
  uint32_t *arrivals, *last_arrivals;
  const struct op *last_op; // of the first arrival in the last phase
};

enum { BARRIER_COUNT = 16, MAX_WARPS = 32 };

// An access of a warp to the shared memory of another CTA.
struct far_touch {
  uint32_t clock, op, lane;
};

struct cta {
  struct run *run;
  struct cluster *cluster;
  unsigned rank; // in the cluster
  unsigned id[3];
  uint32_t number; // in the grid
  uint8_t *shared;
  struct shadow *shadow; // with `check`
  struct far_touch
      *touched; // with `check`: [warp of the cluster]: its last access, from another CTA
  struct warp *warps;
  unsigned warp_count, alive;
  struct barrier barriers[BARRIER_COUNT];
  struct mbarrier *mbarriers; // NULL before the first
  unsigned mbarrier_count;
  uint8_t *mbarrier_numbers; // [offset / 8]: which of them plus 1; 0: none
  struct bulk_state *bulk;   // copies of the async proxy; NULL before the first
  struct register_pool *registers;
  uint64_t instructions;
  struct arena *arena; // of everything above
};

struct run {
  const struct sim_launch *launch;
  const struct program *program;
  unsigned cluster[3]; // CTAs in each dimension
  struct arena *arena;
  struct sim_buffer *buffers; // by address
  size_t buffer_count, last_buffer;
  uint8_t *params;
  uint32_t static_shared, shared_bytes;
  uint64_t random, ticks;
  bool check, failed;
  uint64_t instructions, lane_instructions;
  unsigned violations;
  struct global_shadow *global; // with `check`
  struct map made_maps;         // by address (map_fences.c)
  struct map reported;          // one violation per operation and kind
};

static inline uint64_t *row(struct warp *w, int32_t slot) { return w->regs[slot]; }
#define EACH_LANE(lane, lanes)                                                                     \
  for (uint32_t each_##lane = (lanes), lane;                                                       \
       each_##lane && (lane = (uint32_t)__builtin_ctz(each_##lane), true);                         \
       each_##lane &= each_##lane - 1)

uint64_t run_random(struct run *r);

// ---- warps (warp.c) ----

// Runs up to `budget` operations of the warp; fewer if it blocks, ends or fails.
void warp_run(struct warp *w, uint64_t budget);
bool warp_runnable(const struct warp *w);
void warp_add_group(struct warp *w, struct group g);
// The running group continues with these lanes only; its other lanes continue at `pc`.
void warp_split(struct warp *w, uint32_t keep, uint32_t pc);
// Convergence: true when all live lanes of `want` are here (then *lanes are all of them, merged
// into the running group). Else the group is blocked, and the caller returns.
bool warp_converge(struct warp *w, const struct op *op, uint32_t *lanes, uint32_t want,
                   bool aligned);
// The same for an instruction that requires all 32 lanes: false if they have not arrived, or never
// can.
bool warp_converge_whole(struct warp *w, const struct op *op, uint32_t *lanes);
// These lanes wait: `g` says where they continue and for what they wait; its mask is set here.
void warp_block(struct warp *w, uint32_t lanes, struct group g);
// One of the warp's groups is ready.
static inline void warp_wake(struct warp *w, struct group *g) {
  g->state = GROUP_READY;
  if (g->pc < w->limit)
    w->limit = g->pc;
}
void warp_exit_lanes(struct warp *w, uint32_t lanes);
// `*.sync` with a lane mask in a slot: converges the lanes with equal masks.
bool warp_sync_mask(struct warp *w, const struct op *op, uint32_t *lanes, int32_t mask_slot);
// All lanes of the warp wait for each other and nothing outside can release them: a violation.
void warp_report_stuck(struct warp *w);

// ---- violations (sim_violation.c) ----

struct memory_site {
  enum sim_space space;
  uint64_t address;
  unsigned bytes;
};
// Reports a violation and ends the run.
void fault(struct warp *w, const struct op *op, unsigned lane, enum sim_kind kind,
           const struct memory_site *at, const char *format, ...) PRINTF(6, 7);
// With `check`: reports a violation, once per operation and kind. `other` may be NULL.
void warn(struct warp *w, const struct op *op, unsigned lane, enum sim_kind kind,
          const struct memory_site *at, const struct sim_site *other, const char *format, ...)
    PRINTF(7, 8);
// Whether the next one of this kind would be dropped: for texts that take time.
bool has_warned(const struct warp *w, const struct op *op, enum sim_kind kind);
struct sim_site site_of(const struct warp *w, const struct op *op, unsigned lane);

// ---- names of shared memory (shared_names.c) ----

// " (`name`+8)" or " (buffer 1 of `a`)", what is in shared memory at an offset; "" if that is not
// known. Returns `ret`.
const char *shared_name(const struct run *r, uint32_t offset, char *ret, size_t size);
// "shared 0x3000 (buffer 1 of `a`)".
struct shared_text {
  char at[112];
};
struct shared_text shared_text(const struct run *r, uint64_t offset);

// ---- addresses (address.c) ----

struct location {
  uint8_t *bytes;
  enum sim_space space; // never generic, nor shared::cluster
  struct cta *cta;      // of shared memory
  uint64_t offset;      // shared, local (of the lane), param; the address of global memory
  const struct sim_buffer *buffer; // of global memory
};
enum { ACCESS_READ, ACCESS_WRITE };
// Resolves the address of a lane's access, after all checks. False after a fault.
bool locate(struct warp *w, const struct op *op, unsigned lane, enum sim_space space,
            uint64_t address, unsigned bytes, int access, struct location *ret);
// The same for bytes of any number at any address.
bool locate_bytes(struct warp *w, const struct op *op, unsigned lane, enum sim_space space,
                  uint64_t address, unsigned bytes, int access, struct location *ret);

// Marks bytes of global memory as written.
static inline void mark_location(const struct location *at, unsigned bytes) {
  if (at->space == SIM_GLOBAL && at->buffer->written)
    sim_mark_written(at->buffer, at->offset - at->buffer->address, bytes);
}

// With `check`: the mask of unwritten bytes in a read of global memory (written.c).
uint32_t unwritten_bytes(struct warp *w, const struct op *op, unsigned lane,
                         const struct location *at, unsigned bytes);
// The unwritten address that the operation's lane read last; another lane's if a value came from
// there. 0: it read no unwritten memory.
uint64_t unwritten_address(const struct warp *w, const struct op *op, unsigned lane);

// ---- checks of values and races (shadow.c, undefined.c; shadow.h) ----

// How an access of global memory orders threads.
enum order { ORDER_STRONG = 1, ORDER_ACQUIRE = 2, ORDER_RELEASE = 4 };

struct shadow *shadow_create(struct arena *a, uint32_t bytes, unsigned warps);
// One lane reads or writes; a read returns the mask of unwritten bytes. `values` are the contents
// afterwards; `order` is for global memory.
uint32_t shadow_read(struct warp *w, const struct op *op, unsigned lane, const struct location *at,
                     unsigned bytes, unsigned order);
void shadow_write(struct warp *w, const struct op *op, unsigned lane, const struct location *at,
                  unsigned bytes, unsigned order, uint32_t undefined_bytes, const uint8_t *values);
void shadow_atomic(struct warp *w, const struct op *op, unsigned lane, const struct location *at,
                   unsigned bytes, unsigned order, const uint8_t *values);
// Marks bytes of slots as defined or undefined.
void set_defined(struct warp *w, int32_t slot, uint32_t lanes);
void set_undefined(struct warp *w, const struct op *op, int32_t slot, unsigned lane,
                   unsigned bytes);
static inline unsigned undefined_of(const struct warp *w, int32_t slot, unsigned lane) {
  return w->undefined && (w->undefined[slot] >> lane & 1) ? w->undefined_bytes[slot][lane] : 0;
}
// A value decides something: a violation if it is undefined in one of the lanes.
void report_undefined(struct warp *w, const struct op *op, int32_t slot, uint32_t lanes,
                      unsigned bytes, const char *what);
static inline void require_defined(struct warp *w, const struct op *op, int32_t slot,
                                   uint32_t lanes, unsigned bytes, const char *what) {
  if (w->undefined && (w->undefined[slot] & lanes))
    report_undefined(w, op, slot, lanes, bytes, what);
}
// Results of an operation on whole values: undefined if a source is.
void spread_undefined(struct warp *w, const struct op *op, uint32_t lanes, const int32_t *results,
                      unsigned result_count, const int32_t *sources, unsigned source_count);

// ---- barriers (barrier.c), copies (async_copy.c) ----

// Nobody waits at the barrier, and nobody has before.
void barrier_start(struct cta *c, struct barrier *b);
// Releases the warps at barriers that are complete now. Called when a warp arrives or ends.
void barriers_update(struct cta *c);
// Nothing in the cluster can go on: a violation that says who waits for what (deadlock.c).
void report_deadlock(struct cluster *k);
void copies_drop(struct warp *w, uint32_t lanes); // drops those of lanes that exit

#endif
