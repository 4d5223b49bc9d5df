# SPDX-License-Identifier: Apache-2.0
# Conditions at the top level: which definitions a kernel sees, through every entry point of the compiler.

cat > there.py <<'MODULE'
import triton

VALUE = 8
if VALUE > 4:
    @triton.jit
    def inside(x):
        return x + 2
else:
    @triton.jit
    def inside(x):
        return x + 1
MODULE

# Each name is 1 if the branch is the one that Python takes.
cat > choices.py <<'KERNEL'
import os
import platform
import torch
import triton
import triton.language as tl
from packaging import version
from packaging.version import Version, parse as parse_version
from typing import TYPE_CHECKING

SLOW = False
if SLOW:
    @triton.jit
    def last(x): return 0
elif not SLOW and (1 < 2):
    @triton.jit
    def last(x): return 1
else:
    @triton.jit
    def last(x): return 2

@triton.jit
def one(): return 1
@triton.jit
def two(): return 2

if hasattr(tl, "abs"): alias = one
else: alias = two
if hasattr(tl, "no_such_function"): absent = 2
else: absent = 1
listed = 1 if getattr(tl, "nothing", None) is None else 2
if version.parse(triton.__version__) >= version.parse("3.0.0"):
    parsed = 1
else:
    parsed = 2
if Version("2.10.1+cu118") > Version("2.9"): numbers = 1
else: numbers = 2
if parse_version("3.0") == parse_version("3.0.0"): equal = 1
else: equal = 2
if tuple(int(v) for v in triton.__version__.split(".")[:2]) >= (3, 1): tupled = 1
else: tupled = 2
if triton.__version__ >= "2.2.0": text = 1
else: text = 2
if TYPE_CHECKING: checking = 2
else: checking = 1
if torch.cuda.is_available() and torch.version.hip is None: vendor = 1
else: vendor = 2
if triton.runtime.driver.active.get_current_target().backend == "cuda": backend = 1
else: backend = 2
if os.environ.get("NOBODY_SETS_THIS", "0") == "1" or "NOR_THIS" in os.environ: environment = 2
else: environment = 1
if isinstance(SLOW, bool): kind = 1
else: kind = 2
if platform.system() == "nowhere" and False: unused = 2

try:
    from no_such_module import helper
except (ImportError, AttributeError):
    @triton.jit
    def helper(): return 1
try:
    from there import inside
except ImportError:
    inside = two
else:
    found = 1
try:
    import torch.nowhere_imported, missing.module
    handled = 2
except ValueError:
    handled = 3
except ModuleNotFoundError as e:
    handled = 1
except Exception:
    handled = 4
finally:
    closed = 1
try:
    rounding = tl.no_such_rounding
except AttributeError:
    rounding = 1
try:
    from triton.language.extra import no_such_thing
    extra = 2
except ImportError: extra = 1
try:
    if SLOW: raise RuntimeError("no")
    raised = 1
    raise NotImplementedError
except NotImplementedError:
    raised = raised + 10

N = 4
before = N
N *= 3
with open(__file__) as stream:
    within = 1
A, B = divmod(7, 2) if False else (7, 2)
if SLOW:
    if True: nested = 2
else:
    if N == 12:
        nested = 1
    else:
        nested = 3
twice = 1
if not SLOW: twice += 1

@triton.jit
def redefined(): return 2
redefined = one

if torch.cuda.is_available():
    @triton.jit
    def k(out, BLOCK: tl.constexpr = 8):
        tl.static_print("first", last(0), alias(), absent, listed, parsed, numbers, equal, tupled, text, checking, vendor)
        tl.static_print("second", backend, environment, kind, helper(), found, handled, closed, rounding, extra, nested, redefined())
        tl.static_print("third", raised, N, before, within, A, B, twice)
        tl.store(out + tl.arange(0, BLOCK), inside(0))
else:
    @triton.jit
    def k(out, other, missing, BLOCK: tl.constexpr):
        tl.store(out, 5)
KERNEL

check "what Python would choose" 0 'first 1 1 1 1 1 1 1 1 1 1 1$
second 1 1 1 1 1 1 1 1 1 1 1$
third 11 12 4 1 7 2 2$' choices.py --signature 'out=*i32' --emit=tile
check "the chosen kernel is launched" 0 '\[2, 2, 2, 2, ' --run choices.py --target cpu --arg 'out=i32[8]:zeros' --grid 1
check "ahead of time" 0 'k_launch' choices.py --target sm_80 --emit=header -o - --signature 'out=*i32' --grid 1

# Host code stands in for Triton where it is not installed; a function of the file beside an import is a choice.
cat > shim.py <<'MODULE'
from elsewhere import INSTALLED, Placeholder
if INSTALLED:
    import triton
    import triton.language as tl
    from triton.language.extra import libdevice
else:
    triton = Placeholder()
    tl, libdevice = Placeholder("language"), None
MODULE
cat > shimmed.py <<'KERNEL'
import elsewhere
from shim import tl, libdevice, triton

if elsewhere.EXACT:
    from triton.language.extra.libdevice import exp2 as power
else:
    @triton.jit
    def power(x): return x * x

@triton.jit
def root(out, N: tl.constexpr = 8):
    tl.store(out + tl.arange(0, N), libdevice.sqrt(tl.full([N], 9, tl.float32)))

@triton.jit
def chosen(out):
    tl.store(out, power(3.0))
KERNEL
check "imports of Triton beside stand-ins" 0 '\[3, 3, 3, 3, ' --run shimmed.py --kernel root --target cpu --arg 'out=f32[8]:zeros' --grid 1
check "an import of Triton beside a function" 1 'which `power` this is depends on a condition.*\[E0314\]' \
  shimmed.py --kernel chosen --signature 'out=*f32' --emit=tile

# Conditions that only the running host program can evaluate.
cat > open.py <<'KERNEL'
import extension
import triton
import triton.language as tl

WIDE = extension.is_wide()
if WIDE:
    @triton.jit
    def scale(x): return x * 2
else:
    @triton.jit
    def scale(x): return x * 3

if extension.other():
    unused = 1
else:
    unused = 2

if WIDE:
    @triton.autotune(configs=[triton.Config({"BLOCK": 8})], key=[])
    @triton.jit
    def choice(out, BLOCK: tl.constexpr):
        tl.store(out + tl.arange(0, BLOCK), scale(10))
else:
    @triton.autotune(configs=[triton.Config({"BLOCK": 4})], key=[])
    @triton.jit
    def choice(out, offset, BLOCK: tl.constexpr):
        tl.store(out + tl.arange(0, BLOCK), scale(offset))

if extension.other():
    @triton.jit
    def alone(out):
        tl.store(out, 1)

@triton.jit
def plain(out):
    tl.store(out, scale(10))

for n in range(2):
    LAST = n

@triton.jit
def loop(out):
    tl.store(out, LAST)
KERNEL
check "a helper that host code chooses" 1 'open.py:36:19: error: which `scale` this is depends on a condition in host code \[E0314\]
needs `extension.is_wide\(\)`
help: `-D WIDE=...`' open.py --kernel plain --signature 'out=*i32' --emit=tile
check "a kernel that the CPU chooses" 1 'open.py:[0-9]+:9: error: which `choice` this is .*\[E0314\]' \
  open.py --kernel choice --signature 'out=*i32' --emit=tile
check "the only definition needs no choice" 0 'func.func @alone' open.py --kernel alone --signature 'out=*i32' --emit=tile
check "a name that a loop binds" 1 'which `LAST` this is depends
statements of a loop' open.py --kernel loop --signature 'out=*i32' --emit=tile
check "-D of a constant of the file" 0 'dense<30>|constant 30' open.py --kernel plain --signature 'out=*i32' -D WIDE=False --emit=tile
check "-D in a launch" 0 '\[20, 20, 20, 20, ' --run open.py --kernel choice --target cpu --arg 'out=i32[8]:zeros' \
  --grid 1 -D WIDE=True
check "-D chooses the parameters too" 0 'i32\[8\] .*\[21, 21, 21, 21, .*min 0  max 21' --run open.py --kernel choice --target cpu --arg 'out=i32[8]:zeros' \
  --arg offset=7 --grid 1 -D WIDE=False
check "-D in a pack" 0 'plain_launch' open.py --kernel plain --target sm_80 --emit=header -o - --signature 'out=*i32' --grid 1 -D WIDE=True
check "without it" 1 'E0314' --run open.py --kernel choice --target cpu --arg 'out=i32[8]:zeros' --grid 1

# An imported module without decorators: what cannot be device code is host code, an error only where a kernel calls it.
cat > plain.py <<'MODULE'
import os

LIMIT = 3

def check(x):
    try:
        y = x + 1
    except ValueError:
        raise RuntimeError("no")
    return y

def grow(x):
    return x + LIMIT
MODULE
cat > uses.py <<'KERNEL'
import triton
import triton.language as tl
from plain import check, grow

@triton.jit
def k(out, HOST: tl.constexpr):
    tl.store(out, check(1) if HOST else grow(tl.load(out)))
KERNEL
check "an imported module with host functions" 0 'out +i32\[1\] +\[3\]' --run uses.py --target cpu --arg 'out=i32[1]' --grid 1 -D HOST=False
check "a host function of an imported module" 1 '`check` is host code.*\[E0311\]' --run uses.py --target cpu --arg 'out=i32[1]' --grid 1 -D HOST=True

# Functions of host code: exceptions that are known choose, what is not known stays an error.
mkdir -p house
cat > house/__init__.py <<'MODULE'
import os
from importlib.util import find_spec

HAVE = find_spec("triton") is not None or find_spec("nobodys-triton") is not None
if HAVE:
    try:
        from triton.backends import backends
        active = [b.driver for b in backends.values() if b.driver and b.driver.is_active()]
        shown = os.environ.get("VISIBLE_DEVICES")
        if shown is not None and len(shown) == 0 and len(active) == 0:
            pass
        elif len(active) != 1:
            HAVE = False
    except ImportError:
        HAVE = False

def has_other_device():
    try:
        from house.missing import is_around
    except ImportError:
        return False
    return is_around()

class Stand:
    __version__ = "0.0.0"

if HAVE and not has_other_device():
    import triton
    import triton.language as tl
else:
    triton = Stand()
    tl = Stand()
MODULE
cat > in_house.py <<'KERNEL'
from packaging import version
from house import HAVE, has_other_device, tl, triton
from importlib import util
NEW = HAVE and version.parse(triton.__version__) >= version.parse("3.0.0")
if NEW:
    @triton.jit
    def grow(x): return x + 2
else:
    @triton.jit
    def grow(x): return x + 1
def has(name):
    return util.find_spec(name) is not None
EXTRA = 1 if has("nowhere_dsl") else 2
SIDE = 1 if has_other_device() else 2
@triton.jit
def k(x):
    tl.store(x, grow(5))
@triton.jit
def side(x):
    tl.store(x, SIDE)
@triton.jit
def open_question(x):
    tl.store(x, EXTRA)
KERNEL
check "host functions that ask for drivers, modules and versions" 0 'i32\[1\] +\[7\]' --run in_house.py --kernel k --target cpu --arg 'x=i32[1]' --grid 1
check "a constant that a module outside decides" 1 'in_house.py:13:9: error: the module constant `EXTRA` is not known .*\[E0301\]
this needs `find_spec\(nowhere_dsl\)`, which is not known here' --run in_house.py --kernel open_question --target cpu --arg 'x=i32[1]' --grid 1
check "a function whose import fails" 0 'i32\[1\] +\[2\]' --run in_house.py --kernel side --target cpu --arg 'x=i32[1]' --grid 1
mkdir -p house/missing
echo 'def is_around(): return False' > house/missing/__init__.py
check "the module that the function asks for, found and not read" 1 'the module constant `SIDE` is not known .*\[E0301\]
this needs `house.missing.is_around\(\)`, which is not known here' --run in_house.py --kernel side --target cpu --arg 'x=i32[1]' --grid 1
check "stand-ins for Triton need no decision" 0 'i32\[1\] +\[7\]' --run in_house.py --kernel k --target cpu --arg 'x=i32[1]' --grid 1

# A condition of an imported file: `-D` does not reach its constants, and the message says so.
cat > undecided_there.py <<'MODULE'
import somewhere
import triton
NEW = somewhere.version() > 3
if NEW:
    @triton.jit
    def inside(x): return x + 2
else:
    @triton.jit
    def inside(x): return x + 1
MODULE
cat > undecided_use.py <<'KERNEL'
import triton
import triton.language as tl
from undecided_there import inside
@triton.jit
def k(x):
    tl.store(x, inside(tl.load(x)))
KERNEL
check "a condition of an imported file" 1 'depends on a condition in host code \[E0314\]
only: write `NEW = ...` in `.*undecided_there.py`
!-D NEW=' undecided_use.py --signature 'x=*f32' --target sm_80 --emit=tile
