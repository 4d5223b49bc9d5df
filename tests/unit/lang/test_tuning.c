// SPDX-License-Identifier: Apache-2.0
// @autotune and @heuristics as written in practice.
#include "lang/tuning/tuning.h"
#include "parsed.h"
#include "suites_emit.h"

// A kernel with these decorators, after `before`.
static struct parsed with_decorators(const char *before, const char *decorators) {
  struct strbuf text = {0};
  strbuf_printf(&text,
                "import itertools\nimport os\nimport torch\nimport triton\n"
                "import triton.language as tl\n%s\n%s\n@triton.jit\n"
                "def k(x, y, n, BLOCK: tl.constexpr, WIDE: tl.constexpr = 1, EVEN: tl.constexpr = "
                "False):\n  pass\n",
                before, decorators);
  struct parsed p = parsed_create("t.tile", (struct str){strbuf_cstr(&text), text.len});
  strbuf_finish(&text);
  ck_assert_msg(diag_error_count(p.diag) == 0, "%s", diag_first_error(p.diag));
  return p;
}

static bool tuning_of(struct parsed *p, const char *kernel, const char *target,
                      struct lang_tuning *ret) {
  lang_unit_resolve(p->unit, &(struct lang_outer){.target = target});
  return lang_tuning_of(p->arena, p->diag, p->unit, kernel, ret);
}

// "BLOCK=64 w4 s2; BLOCK=128" of the configurations.
static void write_configs(const struct lang_tuning *t, const bool *keep, struct strbuf *out) {
  for (size_t i = 0; i < t->config_count; i++) {
    const struct lang_config *c = &t->configs[i];
    if (keep && !keep[i])
      continue;
    strbuf_puts(out, out->len ? "; " : "");
    for (size_t k = 0; k < c->setting_count; k++)
      strbuf_printf(out, "%s%s=%s", k ? " " : "", c->settings[k].name, c->settings[k].text);
    if (c->num_warps)
      strbuf_printf(out, " w%u", c->num_warps);
    if (c->num_stages)
      strbuf_printf(out, " s%u", c->num_stages);
    if (c->max_registers)
      strbuf_printf(out, " r%u", c->max_registers);
    if (c->warp_specialize)
      strbuf_printf(out, " %s", warp_specialize_name(c->warp_specialize));
  }
}

static void check_configs(const char *before, const char *decorators, const char *want) {
  struct parsed p = with_decorators(before, decorators);
  struct lang_tuning t;
  bool ok = tuning_of(&p, "k", "sm_90a", &t);
  struct strbuf out = {0};
  if (ok)
    write_configs(&t, NULL, &out);
  else
    strbuf_puts(&out, diag_first_error(p.diag));
  ck_assert_msg(strcmp(strbuf_cstr(&out), want) == 0, "%s\n%s\ngives %s", before, decorators,
                strbuf_cstr(&out));
  strbuf_finish(&out);
  parsed_destroy(&p);
}

START_TEST(lists) {
  check_configs("", "", "");
  check_configs("",
                "@triton.autotune(configs=[triton.Config({'BLOCK': 64}, num_warps=4, num_stages=2),"
                "triton.Config({\"BLOCK\": 128, 'WIDE': 2}, num_warps=8, maxnreg=128)], key=['n'])",
                "BLOCK=64 w4 s2; BLOCK=128 WIDE=2 w8 r128");
  check_configs("", "@triton.autotune([triton.Config({}, num_warps=w) for w in [1, 2]], ['n'])",
                " w1;  w2");
  check_configs("",
                "@triton.autotune(configs=[triton.Config({'BLOCK': b, 'WIDE': w}, num_stages=s) "
                "for b in (64, 128) for w in range(1, 3) for s in [2, 3] if b * w < 256 and s != "
                "3], key=[])",
                "BLOCK=64 WIDE=1 s2; BLOCK=64 WIDE=2 s2; BLOCK=128 WIDE=1 s2");
  check_configs(
      "",
      "@triton.autotune(configs=[triton.Config({'BLOCK': 1 << i}) for i in range(4, 6)] + "
      "[triton.Config(dict(BLOCK=7, WIDE=2 ** 3), 2)], key=[])",
      "BLOCK=16; BLOCK=32; BLOCK=7 WIDE=8 w2");
  check_configs(
      "",
      "@triton.autotune(configs=[triton.Config({'BLOCK': b, **{f'WI{d}': w}}) for (b, w), "
      "d in itertools.product(zip([1, 2], [3, 4]), ['DE'])], key=[])",
      "BLOCK=1 WIDE=3; BLOCK=2 WIDE=4");
  check_configs("",
                "@triton.autotune(configs=[triton.Config({'WIDE': w}) for w in [True, None, 1.5, "
                "'relu', tl.float16]], key=[])",
                "WIDE=True; WIDE=None; WIDE=1.5; WIDE='relu'; WIDE=f16");
  check_configs("",
                "@triton.autotune(configs=[triton.Config({'BLOCK': 8, 'waves_per_eu': 2, "
                "'num_warps': 16})], key=[])",
                "BLOCK=8 w16");
  check_configs("",
                "@triton.autotune(configs=[triton.Config({'BLOCK': 8, 'warp_specialize': w}) "
                "for w in [True, False, None, 'auto', 'off']], key=[])",
                "BLOCK=8 on; BLOCK=8 off; BLOCK=8; BLOCK=8; BLOCK=8 off");
}
END_TEST

START_TEST(functions) {
  check_configs("def get():\n"
                "  configs = []\n"
                "  for b in [64, 128]:\n"
                "    for w in range(2, 5, 2):\n"
                "      if b == 64 and w == 4:\n"
                "        continue\n"
                "      configs.append(triton.Config({'BLOCK': b}, num_warps=w))\n"
                "  return configs\n",
                "@triton.autotune(configs=get(), key=['n'])",
                "BLOCK=64 w2; BLOCK=128 w2; BLOCK=128 w4");
  check_configs("def is_cuda():\n"
                "  return triton.runtime.driver.active.get_current_target().backend == 'cuda'\n"
                "def hip():\n  return [triton.Config({'BLOCK': 1})]\n"
                "def cuda():\n  return [triton.Config({'BLOCK': 2})]\n"
                "def get():\n"
                "  if is_cuda():\n    return cuda()\n  else:\n    return hip()\n",
                "@triton.autotune(configs=get(), key=['n'])", "BLOCK=2");
  check_configs("WARPS = [2, 4] if torch.version.hip is None else [8]\n"
                "base = {'WIDE': 2}\n"
                "configs = [triton.Config({'BLOCK': 16, **base}, num_warps=w) for w in WARPS]\n"
                "def keep(c):\n"
                "  return not (torch.cuda.get_device_capability()[0] == 9 and c.num_warps == 4 and "
                "c.kwargs['BLOCK'] * c.kwargs.get('NONE', 1) < 32)\n",
                "@triton.autotune(list(filter(keep, configs)), key=['n'])", "BLOCK=16 WIDE=2 w2");
  check_configs("def get(sizes=(1, 2), **extra):\n"
                "  out = {}\n"
                "  for i, s in enumerate(sizes):\n"
                "    out[s] = out.get(s, 0) + i + len(extra)\n"
                "  big, *rest = sorted(out.items(), key=lambda r: -r[1])\n"
                "  while len(rest) > 1:\n    rest.pop()\n"
                "  out = [triton.Config({'BLOCK': a, 'WIDE': b}) for a, b in [big] + rest]\n"
                "  out += [triton.Config({'BLOCK': sum(sizes), 'WIDE': max(sizes)})]\n"
                "  out[0].num_warps = 8\n"
                "  return out\n",
                "@triton.autotune(configs=get([3, 4, 5], a=1, b=2), key=['n'])",
                "BLOCK=5 WIDE=4 w8; BLOCK=4 WIDE=3; BLOCK=12 WIDE=5");
  check_configs("extra = dict(reset_to_zero=['y'], cache_results=True)\n",
                "@triton.autotune(configs=[triton.Config({'BLOCK': 1}, pre_hook=lambda a: "
                "a['x'].zero_())], key=['n'], **extra)",
                "BLOCK=1");
}
END_TEST

// Code of libraries before their lists of configurations.
START_TEST(libraries) {
  check_configs("import builtins\nimport inspect\nSEEN = 0\n"
                "extra = {'cache_results': True} if 'cache_results' in "
                "inspect.signature(triton.autotune).parameters else {}\n"
                "WIDE = os.getenv('WIDE', '3') == '3' and os.environ.get('X', None) is None\n"
                "def backend():\n"
                "  global SEEN\n"
                "  SEEN = 1\n"
                "  try:\n"
                "    return triton.runtime.driver.active.get_current_target().backend\n"
                "  except Exception:\n"
                "    return 'cpu'\n"
                "def get():\n"
                "  if backend() != 'cuda':\n    raise ValueError('no')\n"
                "  return [triton.Config({'BLOCK': builtins.min(64, 32), 'WIDE': WIDE})]\n",
                "@triton.autotune(configs=get(), key=['n'], **extra)", "BLOCK=32 WIDE=True");
  check_configs("def is_hip():\n  return False\n"
                "BLOCKS = [1]\n"
                "if is_hip():\n  STAGES = [1]\n  BLOCKS = [2]\n"
                "elif torch.cuda.get_device_capability()[0] >= 9:\n"
                "  if True:\n    STAGES, BLOCKS = [5], [6]\n"
                "else:\n  STAGES = [2]\n"
                "configs = [triton.Config({'BLOCK': b}, num_stages=s) for s in STAGES for b in "
                "BLOCKS]\n"
                "if 'PYTEST_VERSION' in os.environ:\n  configs = []\n"
                "if configs is None:\n  configs = []\n"
                "for s in STAGES:\n  other = 3\n",
                "@triton.autotune(configs=configs, key=['n'])", "BLOCK=6 s5");
  check_configs("def get():\n  raise ValueError('no')\n", "@triton.autotune(configs=get(), key=[])",
                "the list of configurations ends in an exception");
  check_configs("def get():\n"
                "  try:\n    import extension\n    return [triton.Config({'BLOCK': 1})]\n"
                "  except ImportError:\n    return [triton.Config({'BLOCK': 2})]\n",
                "@triton.autotune(configs=get(), key=[])", "BLOCK=2");
  check_configs("def get():\n"
                "  try:\n    with open('sizes') as f:\n      return [triton.Config({'BLOCK': 1})]\n"
                "  except OSError:\n    return [triton.Config({'BLOCK': 2})]\n",
                "@triton.autotune(configs=get(), key=[])",
                "the list of configurations needs a statement that is not evaluated");
  check_configs("def get():\n"
                "  try:\n    raise KeyError\n  except ValueError:\n    return []\n",
                "@triton.autotune(configs=get(), key=[])",
                "the list of configurations ends in an exception");
}
END_TEST

START_TEST(classes) {
  static const char text[] =
      "import enum\nfrom enum import Enum, IntEnum\n"
      "class Mode(Enum):\n"
      "  'modes'\n"
      "  SMALL = 'small'\n"
      "  MEDIUM = 64\n"
      "  LARGE = enum.auto()\n"
      "  @classmethod\n"
      "  def of(cls, x):\n    return cls(x)\n"
      "  @property\n"
      "  def low(self):\n    return self.name.lower()\n"
      "  def width(self, factor):\n    return self.value * factor\n"
      "  def __repr__(self):\n    raise NotImplementedError('no')\n"
      "class Level(IntEnum):\n  ONE = 1\n  TWO = 2\n"
      "class Base:\n"
      "  STAGES = 5\n"
      "  def forward(ctx, x):\n    k[(1,)](x)\n"
      "  @classmethod\n"
      "  def stages(cls):\n    return cls.STAGES - 2\n"
      "class Limits(Base):\n"
      "  @staticmethod\n"
      "  def warps(wide: bool):\n    return 8 if wide else Level.TWO\n"
      "def wanted(m):\n  return m in (Mode.MEDIUM, Mode.LARGE) and m is not Mode.SMALL\n";
  check_configs(text,
                "@triton.autotune(configs=[triton.Config({'BLOCK': m.width(2)}, "
                "num_warps=Limits.warps(m is Mode.LARGE), num_stages=Limits.stages()) for m in "
                "Mode if wanted(m)], key=[])",
                "BLOCK=128 w2 s3; BLOCK=130 w8 s3");
  check_configs(text,
                "@triton.autotune(configs=[triton.Config({'BLOCK': len(Mode) * 10 + sum(l for l "
                "in Level), 'WIDE': (Mode.of(64).low, Mode('small') == Mode.SMALL, Level(2))})], "
                "key=[])",
                "BLOCK=33 WIDE=('medium', True, 2)");
  check_configs(text, "@triton.autotune(configs=[triton.Config({'BLOCK': Mode.HUGE})], key=[])",
                "the class `Mode` has no function or constant `HUGE`");
  check_configs(text, "@triton.autotune(configs=[triton.Config({'BLOCK': Mode(7)})], key=[])",
                "`Mode` has no member with this value");
  check_configs(text,
                "@triton.autotune(configs=[triton.Config({'BLOCK': b}) for b in Base], key=[])",
                "the class `Base` is not a sequence");
  check_configs("class A:\n  X = B.Y\nclass B:\n  Y = A.X\n",
                "@triton.autotune(configs=[triton.Config({'BLOCK': A.X})], key=[])",
                "the constant `X` needs itself");
}
END_TEST

START_TEST(not_evaluable) {
  check_configs(
      "", "@triton.autotune(configs=[triton.Config({'BLOCK': int(os.environ['B'])})], key=[])",
      "the list of configurations needs `os.environ`, which is not known here");
  check_configs("from settings import LIST\n", "@triton.autotune(configs=LIST, key=[])",
                "the list of configurations needs `settings.LIST`, which is not known here");
  check_configs("", "@triton.autotune(configs=[4], key=[])", "`4` in the list of configurations");
  check_configs("", "@triton.autotune(configs=4, key=[])", "`configs` is `4`, not a list");
  check_configs("", "@triton.autotune(configs=[triton.Config({'BLOK': 4})], key=[])",
                "the kernel `k` has no parameter `BLOK`");
  check_configs("", "@triton.autotune(configs=[triton.Config({'BLOCK': {1: 2}})], key=[])",
                "a dict is no value for `BLOCK`");
  check_configs("", "@triton.autotune(configs=[triton.Config({'BLOCK': tl.load(3)})], key=[])",
                "the list of configurations needs `tl.load`, which is a function of kernels");
  check_configs("",
                "@triton.autotune(configs=[triton.Config({'BLOCK': i}) for i in range(100000)], "
                "key=[])",
                "a sequence of more than 4096 values");
  // Evaluation that would not end, or exceeds a limit.
  check_configs("def f(n):\n  return f(n + 1)\n", "@triton.autotune(configs=f(1), key=[])",
                "calls of `f` are nested more than 64 deep");
  check_configs("def f():\n  while True:\n    pass\n", "@triton.autotune(configs=f(), key=[])",
                "a compile-time loop of more than 4096 iterations");
  check_configs(
      "def f():\n  l = [0]\n  l[0] = l\n  return l\n", "@triton.autotune(configs=f(), key=[])",
      "the list of configurations needs a list that holds itself, which is not evaluated");
  check_configs(
      "def f():\n  a, b = [0], [1]\n  b[0] = a\n  a.append((b,))\n  return str(a)\n",
      "@triton.autotune(configs=f(), key=[])",
      "the list of configurations needs a list that holds itself, which is not evaluated");
  check_configs("def f():\n  l = []\n  for i in range(100):\n    l = [l, l]\n  return l\n",
                "@triton.autotune(configs=f(), key=[])", "a sequence of more than 262144 values");
  check_configs(
      "def f():\n  d = {}\n  for i in range(100):\n    d = {'a': d, 'b': d}\n  return d\n",
      "@triton.autotune(configs=f(), key=[])", "a sequence of more than 262144 values");
  check_configs("def f():\n  s = 'x'\n  for i in range(100):\n    s = f'{s}{s}'\n  return s\n",
                "@triton.autotune(configs=f(), key=[])", "the string is longer than 65536 bytes");
  // Values that are not needed may be unknown.
  check_configs("DEBUG = os.environ.get('DEBUG', '0')\n",
                "@triton.autotune(configs=[triton.Config({'BLOCK': 4}, pre_hook=DEBUG)], key=[])",
                "BLOCK=4");
}
END_TEST

static const struct lang_known known[] = {
    {.name = "x", .is_pointer = true, .dtype = DTYPE_F16},
    {.name = "y", .is_pointer = true, .dtype = DTYPE_F32},
    {.name = "n", .dtype = DTYPE_I32, .is_integer = true, .integer = 96},
    {.name = "BLOCK", .is_text = true, .text = "32"},
};

// Without any @jit the functions of a file are device functions, and decorators may still call
// them.
START_TEST(native_files) {
  static const char text[] = "def sizes():\n"
                             "  out = []\n"
                             "  for i in range(4, 6):\n    out.append(1 << i)\n"
                             "  return out\n"
                             "@autotune([Config({'BLOCK': b}) for b in sizes()], key=[])\n"
                             "@heuristics({'EVEN': lambda args: args['n'] % args['BLOCK'] == 0})\n"
                             "def k(x: ptr[f32], n: i32, BLOCK: constexpr, EVEN: constexpr):\n"
                             "  pass\n";
  struct parsed p = parsed_create("t.tile", str_from(text));
  struct lang_tuning t;
  struct lang_setting s[1];
  ck_assert_msg(tuning_of(&p, NULL, "cpu", &t) &&
                    lang_heuristics(p.arena, p.diag, &t, known, COUNT_OF(known), s),
                "%s", diag_first_error(p.diag));
  ck_assert_uint_eq(t.config_count, 2);
  ck_assert_str_eq(t.configs[1].settings[0].text, "32");
  ck_assert_str_eq(s[0].text, "True");
  parsed_destroy(&p);
}
END_TEST

START_TEST(keys) {
  struct parsed p =
      with_decorators("KEY = ['n']\n", "@triton.autotune([triton.Config({'BLOCK': 1})], key=KEY + "
                                       "['WIDE'], reset_to_zero=['x'], restore_value=('y',))");
  struct lang_tuning t;
  ck_assert(tuning_of(&p, NULL, NULL, &t));
  ck_assert_uint_eq(t.key_count, 2);
  ck_assert_str_eq(t.key[1], "WIDE");
  ck_assert_uint_eq(t.reset_count, 1);
  ck_assert_str_eq(t.reset_to_zero[0], "x");
  ck_assert_uint_eq(t.restore_count, 1);
  ck_assert_str_eq(t.restore_value[0], "y");
  ck_assert_uint_eq(t.heuristic_count, 0);
  parsed_destroy(&p);
}
END_TEST

static void check_heuristics(const char *before, const char *decorators, const char *want) {
  struct parsed p = with_decorators(before, decorators);
  struct lang_tuning t;
  struct lang_setting s[8];
  bool ok = tuning_of(&p, "k", "cpu", &t) &&
            lang_heuristics(p.arena, p.diag, &t, known, COUNT_OF(known), s);
  struct strbuf out = {0};
  for (size_t i = 0; ok && i < t.heuristic_count; i++)
    strbuf_printf(&out, "%s%s=%s", i ? " " : "", s[i].name, s[i].text);
  if (!ok)
    strbuf_puts(&out, diag_first_error(p.diag));
  ck_assert_msg(strcmp(strbuf_cstr(&out), want) == 0, "%s\ngives %s", decorators,
                strbuf_cstr(&out));
  strbuf_finish(&out);
  parsed_destroy(&p);
}

START_TEST(heuristics) {
  check_heuristics("", "@triton.heuristics({'EVEN': lambda args: args['n'] % args['BLOCK'] == 0})",
                   "EVEN=True");
  check_heuristics("def even(nargs):\n  return nargs['n'] // 10 * 10 == nargs['n']\n",
                   "@triton.heuristics(values={'EVEN': even, 'WIDE': lambda META: 4 if "
                   "META['EVEN'] else triton.next_power_of_2(META['n'])})",
                   "EVEN=False WIDE=128");
  check_heuristics("",
                   "@triton.heuristics({'EVEN': lambda args: args['y'] is not None})\n"
                   "@triton.heuristics({'WIDE': lambda args: 16 // args['x'].element_size() + "
                   "args['EVEN']})",
                   "EVEN=True WIDE=9");
  check_heuristics("",
                   "@triton.heuristics({'EVEN': lambda a: a['x'].dtype == torch.float16, "
                   "'BLOCK': lambda a: 5})",
                   "EVEN=True BLOCK=32");
  check_heuristics("heur = {'blk': {'WIDE': lambda args: min(args['n'], 64)}}\n",
                   "@triton.heuristics(heur['blk'])", "WIDE=64");
  check_heuristics("heur = {w: lambda args, w=w: args['n'] + len(w) for w in ['WIDE', 'EVEN']}\n",
                   "@triton.heuristics({**heur, 'num_warps': lambda args: 8})",
                   "WIDE=100 EVEN=100");
  check_heuristics("",
                   "@triton.heuristics({'WIDE': lambda args: isinstance(args['x'], torch.Tensor) "
                   "and not isinstance(args['n'], torch.Tensor)})",
                   "WIDE=True");
  check_heuristics("", "@triton.heuristics({'WIDE': lambda args: args['x'].shape[0]})",
                   "the heuristic of `WIDE` needs `x.shape`, which is not known here");
  check_heuristics("", "@triton.heuristics({'WIDE': lambda args: args['m']})",
                   "the dictionary has no `'m'`");
  check_heuristics("", "@triton.heuristics(lambda args: 1)",
                   "`heuristics` takes a dictionary of functions, not the function `<lambda>`");
}
END_TEST

static void check_prune(const char *function, const char *want) {
  struct parsed p = with_decorators(
      function, "@triton.autotune([triton.Config({'BLOCK': b}, num_warps=w) for b in [16, 32, 128] "
                "for w in [2, 4]], key=['n'], prune_configs_by={'early_config_prune': prune, "
                "'perf_model': None, 'top_k': 3})");
  struct lang_tuning t;
  bool keep[6];
  struct strbuf out = {0};
  if (tuning_of(&p, "k", "sm_90a", &t) &&
      lang_prune(p.arena, p.diag, &t, known, COUNT_OF(known), keep)) {
    write_configs(&t, keep, &out);
  } else {
    ck_assert_int_eq(diag_first_error_code(p.diag), E0464);
    strbuf_puts(&out, diag_first_error(p.diag));
  }
  ck_assert_msg(strcmp(strbuf_cstr(&out), want) == 0, "%s\ngives %s", function, strbuf_cstr(&out));
  strbuf_finish(&out);
  parsed_destroy(&p);
}

START_TEST(pruning) {
  check_prune("def prune(configs, named_args, **kwargs):\n"
              "  return [c for c in configs if c.kwargs['BLOCK'] <= named_args['n'] and "
              "c.num_warps == 4 and kwargs['WIDE'] == 1]\n",
              "BLOCK=16 w4; BLOCK=32 w4");
  check_prune("from triton.runtime import driver\n"
              "def prune(configs, nargs, **kwargs):\n"
              "  device = torch.cuda.current_device()\n"
              "  size = nargs['x'].element_size()\n"
              "  limit = driver.active.utils.get_device_properties(device)['max_shared_mem']\n"
              "  groups = {}\n"
              "  for c in configs:\n"
              "    kw = c.kwargs\n"
              "    if kw['BLOCK'] * size * 1000 > limit:\n"
              "      continue\n"
              "    key = (kw['BLOCK'], 'x')\n"
              "    if key in groups:\n"
              "      groups[key].append((c, c.num_warps))\n"
              "    else:\n"
              "      groups[key] = [(c, c.num_warps)]\n"
              "  kept = []\n"
              "  for (block, name), v in groups.items():\n"
              "    import heapq\n"
              "    for best in heapq.nsmallest(1, v, key=lambda r: r[1]):\n"
              "      kept.append(best[0])\n"
              "  return kept\n",
              "BLOCK=16 w2; BLOCK=32 w2");
  check_prune(
      "def prune(configs, args, BLOCK, **rest):\n  return configs[:1] if BLOCK == 32 else []\n",
      "BLOCK=16 w2");
  check_prune("def prune(configs, args):\n  return [triton.Config({'BLOCK': 16}, num_warps=4)]\n",
              "BLOCK=16 w4");
  check_prune("def prune(configs, args, **kw):\n  return [triton.Config({'BLOCK': 17})]\n",
              "the pruning function gives what is not in the list: a Config");
  check_prune("def prune(configs, args, **kw):\n"
              "  return [c for c in configs if c.kwargs['BLOCK'] < args['x'].numel()]\n",
              "the pruning function needs `x.numel()`, which is not known here");
}
END_TEST

TCase *tuning_tests(void) {
  TCase *c = tcase_create("tuning");
  tcase_add_test(c, lists);
  tcase_add_test(c, functions);
  tcase_add_test(c, libraries);
  tcase_add_test(c, classes);
  tcase_add_test(c, not_evaluable);
  tcase_add_test(c, native_files);
  tcase_add_test(c, keys);
  tcase_add_test(c, heuristics);
  tcase_add_test(c, pruning);
  return c;
}
