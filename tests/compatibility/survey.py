# SPDX-License-Identifier: Apache-2.0
"""Surveys which kernels of published Triton files compile unchanged.

usage: survey.py TILEC FOLDER [--target T] [--verbose] [--only NAME] [--skip REGEX] [--json FILE] [-I DIR]
                 [--launches FOLDER] [--sample N --seed S]

With --launches, kernels that the library's own host code launched while its tests ran under `run_library.py` with TILE_RECORD are
compiled with the types, constants, warps and stages of these launches. Guesses, as follows, serve for the others.

Every function with @triton.jit that host code launches (`kernel[grid](...)`), or that carries an autotuner's
decorator, is compiled to PTX. tilec gets the unchanged file; only the types of the parameters, which
Triton takes from the launch, are inferred here from their uses in the kernel: parameters of loads and stores are
pointers to f32 (or to integers, if the value is used as an index), others are i32 or f32. Parameters whose methods load and
store are tensor descriptors, with the block that the host code gives to `TensorDescriptor` or a `pre_hook` sets. Compile-time parameters get values by
their names: blocks powers of two, flags False, then True. If a message shows that a guess was wrong, other types of
the parameters in the lines that it names are tried, as long as the compiler gets further. A kernel counts as
compiled if one guess compiles.

The functions that FlagGems makes element-wise kernels of (@pointwise_dynamic) are compiled in a kernel written here,
which imports them, loads their arguments and stores their results."""
import argparse
import ast
import collections
import functools
import json
import os
import random
import re
import subprocess
import sys
import tempfile

import recorded

MEMORY = {"load", "store", "make_block_ptr", "make_tensor_descriptor"}
FLOATS = re.compile(r"^(eps|epsilon|alpha|beta|p|scale|sm_scale|slope|softcap|momentum|lr|gamma|delta|tol|rtol|atol|lambd|threshold|"
                    r"temperature|label_smoothing|lse_square_scale|value|min_value|max_value|mini|maxi|weight_decay|margin|std|mean_val|"
                    r"dropout_p|upper_bound|lower_bound|inv_.*|.*_scale|.*_eps|.*_smoothing|.*softcap|from_|to_)$", re.I)
INTEGERS = re.compile(r"(index|indices|idx|ids?$|target|label|offset|lock|count|table|cu_seqlens|seqlens|position|perm|shape|stride)", re.I)


def called(node):
    """`tl.load(...)` -> "load"; "" for other expressions."""
    f = node.func
    return f.attr if isinstance(f, ast.Attribute) else f.id if isinstance(f, ast.Name) else ""


def names_added(node):
    """The names that an address expression is a sum of: `x + row * stride` -> {x}."""
    if isinstance(node, ast.Name):
        return {node.id}
    if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Add, ast.Sub)):
        return names_added(node.left) | names_added(node.right)
    if isinstance(node, ast.Subscript):
        return names_added(node.value)
    if isinstance(node, ast.Call) and called(node) in ("to", "multiple_of", "max_contiguous", "cast", "pointer_type", "where"):
        if called(node) == "where":
            return set().union(*(names_added(a) for a in node.args[1:]))
        base = node.func.value if isinstance(node.func, ast.Attribute) and called(node) == "to" else node.args[0] if node.args else None
        return names_added(base) if base is not None else set()
    return set()


def base_of(node):
    """The leftmost name of a sum, which is the pointer by custom."""
    while isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Add, ast.Sub)):
        node = node.left
    if isinstance(node, (ast.Call, ast.Subscript)):
        got = names_added(node)
        return next(iter(got), None)
    return node.id if isinstance(node, ast.Name) else None


class Kernel:
    def __init__(self, function):
        self.f = function
        a = function.args
        every = a.posonlyargs + a.args + a.kwonlyargs
        self.params = [p.arg for p in every]
        text = {p.arg: ast.unparse(p.annotation) if p.annotation else "" for p in every}
        self.typed = {n for n in self.params if re.match(r"tl\.(u?int|float|bfloat)\d+$", text[n])}
        self.constant = {n for n in self.params if "constexpr" in text[n]}
        defaults = a.defaults
        self.descriptors = {}  # tensor descriptors -> number of dimensions
        for node in ast.walk(function):
            if (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in ("load", "store") and
                    isinstance(node.func.value, ast.Name) and node.func.value.id in self.params and node.args):
                self.descriptors[node.func.value.id] = len(node.args[0].elts) if isinstance(node.args[0], (ast.List, ast.Tuple)) else 1
        self.blocks = {}  # descriptor -> its block in host code
        self.texts = {}  # constant -> the first value that it is compared with
        for node in ast.walk(function):
            if isinstance(node, ast.Compare) and isinstance(node.left, ast.Name) and isinstance(node.comparators[0], ast.Name):
                if node.left.id in self.constant and re.search(r"dtype$", node.left.id):
                    self.texts.setdefault(node.left.id, 0)  # the first of a file's constants
            if isinstance(node, ast.Compare) and isinstance(node.left, ast.Name) and isinstance(node.comparators[0], ast.Constant):
                value = node.comparators[0].value
                if isinstance(value, str) or (isinstance(value, int) and re.search(r"type|mode|kind", node.left.id, re.I)):
                    self.texts.setdefault(node.left.id, value)
        self.defaults = {p.arg: d for p, d in zip((a.posonlyargs + a.args)[len(a.posonlyargs + a.args) - len(defaults):], defaults)}

    def pointers(self, functions, seen=()):
        """Parameters that memory is accessed through, here or in functions that are called."""
        flows = {}  # local name -> names it was made of
        used, integer = set(), set()
        for node in ast.walk(self.f):
            if isinstance(node, (ast.Assign, ast.AugAssign, ast.AnnAssign)):
                target = node.targets[0] if isinstance(node, ast.Assign) else node.target
                if isinstance(target, ast.Name) and node.value is not None:
                    flows.setdefault(target.id, set()).update(names_added(node.value))
                    for sub in ast.walk(node.value):
                        if isinstance(sub, (ast.IfExp,)):
                            flows[target.id] |= names_added(sub.body) | names_added(sub.orelse)
            if isinstance(node, ast.Call):
                name = called(node)
                pointer = [k.value for k in node.keywords if k.arg in ("pointer", "base", "ptr")] + node.args[:1]
                if (name in MEMORY or name.startswith("atomic_")) and pointer:
                    used |= names_added(pointer[0])
                elif name in functions and name not in seen and functions[name] is not self:
                    callee = functions[name]
                    inner, ints = callee.pointers(functions, seen + (self.f.name,))
                    bound = dict(zip(callee.params, node.args)) | {k.arg: k.value for k in node.keywords if k.arg}
                    for p, v in bound.items():
                        if p in inner:
                            used |= names_added(v)
                        if p in ints:
                            integer |= names_added(v)
        # A name used as an address makes the leftmost name it came from one.
        work = list(used)
        while work:
            for source in flows.get(work.pop(), ()):
                if source not in used:
                    used.add(source)
                    work.append(source)
        out = set()
        for n in self.params:
            if n in used and n not in self.constant and not re.search(r"(stride|^n_|_cols|_rows|^[MNK]$|size|pid|row_|offs)", n):
                out.add(n)
        return out, {n for n in out if INTEGERS.search(n)} | (integer & out)

    def signature(self, functions):
        pointers, integers = self.pointers(functions)
        types = {}
        for n in self.params:
            if n in self.constant or n in self.typed or n in self.descriptors:
                continue
            if n in pointers:
                types[n] = "*i64" if n in integers else "*f32"
            else:
                types[n] = "f32" if FLOATS.match(n) else "i32"
        return types

    def descriptor_types(self, constants):
        """Sizes of blocks that are neither numbers nor values of constants are left to the pre_hook."""
        types = {}
        for n, rank in self.descriptors.items():
            block = ["?"] * rank
            for i, e in enumerate(self.blocks.get(n, ())):
                if isinstance(e, ast.Constant):
                    block[i] = str(e.value)
                elif isinstance(e, ast.Name) and e.id in constants:
                    block[i] = constants[e.id]
            types[n] = f"tensordesc[f32,{'x'.join(block)}]"
        return types

    def constants(self, flag, block):
        values = {}
        for n in sorted(self.constant):
            if n in self.defaults and isinstance(self.defaults[n], ast.Constant) and self.defaults[n].value is not None:
                continue
            low = n.lower()
            if n in self.texts:
                values[n] = str(self.texts[n])
            elif re.search(r"dtype|_type$|_ty$", low):
                values[n] = "int32" if "ind" in low else "float32"
            elif re.match(r"(num_warps|num_stages)$", low):
                values[n] = "4"
            elif re.search(r"reduction", low):
                values[n] = "mean"
            elif re.search(r"activation|(^|_)mode|kind", low):
                values[n] = "none" if "mode" not in low else "0"
            elif re.search(r"^(kernel|stride|dilation|padding|output_padding|k[hwd]$|s[hwd]$|d[hwd]$)", low):
                values[n] = "2" if low.startswith("k") else "1"
            elif re.search(r"eps|alpha|beta|scale|cap|smooth|temperature", low):
                values[n] = "0.5"
            elif re.search(r"factor", low):
                values[n] = "2"
            elif n == "K":
                values[n] = "1024"
            elif n + "_V" in self.constant:  # the values' part of a head
                values[n] = str(2 * block)
            elif re.search(r"block|tile|chunk|padded|bsz|_pad|_bs$|np2|pow2", low):
                values[n] = str(block)
            elif re.search(r"group", low):
                values[n] = "8"
            elif re.search(r"^(has|is|use|with|allow|even|need|inplace|return|save|accumulate|compute|one|bias|affine|causal|"
                           r"varlen|invert|keep|casting|offset|divisible|do_|train|swap|trans|enable|fast|sparse|window|isimag|add_|update)|"
                           r"_only$|flag|mask|bias|inference|backward|online|_contiguous$", low):
                values[n] = flag
            else:
                values[n] = str(block)
        return values


def block_of(call):
    """The block in TensorDescriptor(x, shape, strides, block) or TensorDescriptor.from_tensor(x, block); None: another call."""
    text = ast.unparse(call.func)
    if not text.endswith(("TensorDescriptor", "TensorDescriptor.from_tensor")):
        return None
    named = [k.value for k in call.keywords if k.arg == "block_shape"]
    at = 1 if text.endswith("from_tensor") else 3
    block = named[0] if named else call.args[at] if len(call.args) > at else None
    return block.elts if isinstance(block, (ast.List, ast.Tuple)) else None


def find_blocks(tree, functions):
    """Gives the descriptors of kernels the blocks of the host's variables that a launch passes for them."""
    for host in (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)):
        made, launches = {}, []
        for node in ast.walk(host):
            if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call) and isinstance(node.targets[0], ast.Name):
                made[node.targets[0].id] = block_of(node.value)
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Subscript) and isinstance(node.func.value, ast.Name):
                launches.append(node)
        for node in launches:
            kernel = functions.get(node.func.value.id)
            passed = dict(zip(kernel.params, node.args)) | {k.arg: k.value for k in node.keywords if k.arg} if kernel else {}
            for n, value in passed.items():
                if n in kernel.descriptors and isinstance(value, ast.Name) and made.get(value.id):
                    kernel.blocks[n] = made[value.id]


@functools.lru_cache(maxsize=None)
def kernels_of(path):
    """The functions of a file, which of them are kernels, and which become element-wise kernels."""
    tree = ast.parse(open(path).read())
    functions, launched, decorated, pointwise = {}, set(), set(), {}
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            marks = [ast.unparse(d) for d in node.decorator_list]
            if any("triton.jit" in m or m == "jit" for m in marks):
                functions[node.name] = Kernel(node)
                if any(re.search(r"autotune|heuristics|libentry|libtuner", m) for m in marks):
                    decorated.add(node.name)
                for d in node.decorator_list:
                    if "pointwise_dynamic" in ast.unparse(d):
                        pointwise[node.name] = d
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Subscript) and isinstance(node.func.value, ast.Name):
            launched.add(node.func.value.id)
    find_blocks(tree, functions)
    return functions, {n for n in functions if n in launched or n in decorated}, pointwise


def element_wise(name, function, decorator, module):
    """The text of a kernel that applies a function to its arguments element by element."""
    options = {k.arg: k.value for k in decorator.keywords} if isinstance(decorator, ast.Call) else {}
    tensors = [e.value for e in options["is_tensor"].elts] if "is_tensor" in options else [True] * len(function.params)
    outputs = ast.literal_eval(options["num_outputs"]) if "num_outputs" in options else (
        len(options["promotion_methods"].elts) if "promotion_methods" in options else 1)
    tensors += [False] * (len(function.params) - len(tensors))
    params = [p + (": tl.constexpr" if p in function.constant else "") for p in function.params]
    calls = [f"tl.load({p} + at, at < n_elements)" if t else p for p, t in zip(function.params, tensors)]
    outs = [f"out{i}" for i in range(outputs)]
    lines = ["import triton", "import triton.language as tl", f"from {module} import {name}", "", "@triton.jit",
             f"def kernel({', '.join(params + outs + ['n_elements', 'BLOCK: tl.constexpr'])}):",
             "  at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)",
             f"  {', '.join('r' + o for o in outs)} = {name}({', '.join(calls)})"]
    lines += [f"  tl.store({o} + at, r{o}, at < n_elements)" for o in outs]
    return "\n".join(lines) + "\n"


class Attempt:
    """One call of tilec: its message, and how far in the kernel it came."""

    def __init__(self, survey, path, name, types, constants, emit):
        command = [survey.tilec, path, "--kernel", name, "--target", survey.target, f"--emit={emit}", "-o", os.devnull,
                   "--color=never", "--diagnostics=json"]
        if types:
            command += ["--signature", ",".join(f"{n}={t}" for n, t in types.items())]
        for n, v in constants.items():
            command += ["-D", f"{n}={v}"]
        for folder in survey.include:
            command += ["-I", folder]
        if survey.verbose:
            print(" ".join(command), file=sys.stderr)
        self.errors, self.message = [], ""
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=20)
        except subprocess.TimeoutExpired:
            self.ok, self.is_final, self.message = False, False, "too large: not compiled within 20 s"
            return
        self.ok = done.returncode == 0
        self.is_final = "not supported yet" in done.stderr  # no guess helps
        if not self.ok:
            try:
                found = json.loads(done.stderr)
                found = found["diagnostics"] if isinstance(found, dict) else found
                self.errors = [d for d in found if d.get("severity") == "error"]
                missing = [d for d in self.errors if "not supported yet" in d["message"]]
                first = (missing + self.errors)[0]
                self.message = f"{first['message']} [{first['code']}]"
            except (ValueError, LookupError):
                self.message = done.stderr.strip().split("\n")[0] or f"exit status {done.returncode}"

    def lines(self, path):
        """The lines of the file that the messages point to."""
        out = set()

        def visit(x):
            if isinstance(x, dict):
                if x.get("file") == path and "line" in x:
                    out.add(x["line"])
                for v in x.values():
                    visit(v)
            elif isinstance(x, list):
                for v in x:
                    visit(v)

        visit(self.errors)
        return out


def names_of(node):
    return {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}


class Guesser:
    """Finds types for a kernel's parameters."""

    def __init__(self, survey, path, name, kernel, functions):
        self.survey, self.path, self.name, self.kernel = survey, path, name, kernel
        self.types = kernel.signature(functions)
        self.made_of = {}  # variable -> names in what was assigned to it
        for node in ast.walk(kernel.f):
            if isinstance(node, (ast.Assign, ast.AugAssign, ast.AnnAssign)) and node.value is not None:
                for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                    for n in names_of(target):
                        self.made_of.setdefault(n, set()).update(names_of(node.value))

    def attempt(self, types, constants, emit="tile"):
        return Attempt(self.survey, self.path, self.name, types | self.kernel.descriptor_types(constants), constants, emit)

    def suspects(self, attempt):
        """Parameters that the lines of the messages depend on, the nearest first."""
        lines = attempt.lines(self.path)
        work = collections.deque()
        for node in ast.walk(self.kernel.f):
            if isinstance(node, ast.expr) and node.lineno in lines and isinstance(node, ast.Name):
                work.append(node.id)
        seen, out = set(), []
        while work:
            n = work.popleft()
            if n in seen:
                continue
            seen.add(n)
            if n in self.types:
                out.append(n)
            work.extend(sorted(self.made_of.get(n, ())))
        return out[:8]

    def progress(self, attempt):
        first, last = self.kernel.f.lineno, self.kernel.f.end_lineno
        return min((n for n in attempt.lines(self.path) if first <= n <= last), default=0)

    def solve(self, constants):
        """Pointers that nothing is known about point to floats, else (operators of integers take them on both sides) to
        integers of 32 or 64 bits."""
        first = None
        for element in ("*f32", "*i32", "*i64"):
            got = self.repair({n: element if t == "*f32" else t for n, t in self.types.items()}, constants)
            if got.ok or got.is_final:
                return got
            first = first or got
        return first

    def repair(self, types, constants):
        now, tried = self.attempt(types, constants), 0
        while not now.ok and now.errors and not now.is_final and tried < 60:
            best = None
            for n in self.suspects(now):
                for t in ("*i64", "*f32", "i32", "f32", "*i1", "i64", "*i32", "*u64"):
                    if t == types[n] or tried >= 60:
                        continue
                    tried += 1
                    other = self.attempt(types | {n: t}, constants)
                    if other.ok or other.is_final or self.progress(other) > self.progress(best[0] if best else now):
                        best = (other, n, t)
                    if other.ok or other.is_final:
                        break
                if best and (best[0].ok or best[0].is_final):
                    break
            if not best:
                break
            now = best[0]
            types = types | {best[1]: best[2]}
        return now if not now.ok else self.attempt(types, constants, "ptx")


def compile_kernel(survey, path, name, kernel, functions):
    """None, or why it does not compile."""
    guesser, best = Guesser(survey, path, name, kernel, functions), None
    for flag in ("False", "True"):
        for block in (64, 16, 1024):
            got = guesser.solve(kernel.constants(flag, block))
            if got.ok:
                return None
            if got.is_final:
                return got.message
            if best is None or (best.errors and guesser.progress(got) > guesser.progress(best)):
                best = got
    return best.message


def module_of(path, folders):
    for folder in folders:
        inner = os.path.relpath(path, folder)
        if not inner.startswith(".."):
            return inner[:-3].replace(os.sep, ".")
    return None


class Subject:
    """A kernel, or a function that becomes an element-wise kernel."""

    def __init__(self, survey, file, name):
        self.survey, self.file, self.name = survey, file, name
        self.path = os.path.join(survey.folder, file)
        self.functions, names, self.pointwise = kernels_of(self.path)
        self.launches = survey.recorded.get(f"{os.path.abspath(self.path)}:{name}")
        self.is_element_wise = name in self.pointwise and name not in names
        self.is_kernel = bool(self.launches) or name in names or (self.is_element_wise and module_of(self.path, survey.include))

    def problem(self, scratch):
        """None, or why it does not compile."""
        survey = self.survey
        if self.launches:
            return recorded.judge(survey.tilec, self.launches, survey.target, survey.include, 4)[0]
        if not self.is_element_wise:
            return compile_kernel(survey, self.path, self.name, self.functions[self.name], self.functions)
        module = module_of(self.path, survey.include)
        made = os.path.join(scratch, f"{module}.{self.name}.py")
        with open(made, "w") as out:
            out.write(element_wise(self.name, self.functions[self.name], self.pointwise[self.name], module))
        inner, _, _ = kernels_of(made)
        return compile_kernel(survey, made, "kernel", inner["kernel"], inner)


def find_subjects(survey):
    files = [os.path.relpath(os.path.join(folder, name), survey.folder)
             for folder, _, names in os.walk(survey.folder) for name in names if name.endswith((".py", ".tile"))]
    found = [Subject(survey, file, name) for file in sorted(files) if not (survey.skip and re.search(survey.skip, file))
             for name in sorted(kernels_of(os.path.join(survey.folder, file))[0]) if not survey.only or survey.only in (name, file)]
    found = [s for s in found if s.is_kernel]
    return found if not survey.sample else random.Random(survey.seed).sample(found, min(survey.sample, len(found)))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("tilec")
    parser.add_argument("folder")
    parser.add_argument("--target", default="sm_90a")
    parser.add_argument("--only")
    parser.add_argument("--skip", help="regular expression of files to leave out")
    parser.add_argument("--json")
    parser.add_argument("--verbose", action="store_true")
    parser.add_argument("-I", dest="include", action="append", default=[])
    parser.add_argument("--launches", help="the folder with launches.jsonl")
    parser.add_argument("--sample", type=int, help="so many kernels, chosen at random")
    parser.add_argument("--seed", type=int, default=17)
    survey = parser.parse_args()
    survey.recorded = recorded.read(survey.launches) if survey.launches else {}
    table, counts = {}, collections.Counter()
    with tempfile.TemporaryDirectory() as scratch:
        for subject in find_subjects(survey):
            problem, name = subject.problem(scratch), f"{subject.file}:{subject.name}"
            how = "recorded" if subject.launches else "guessed"
            table[name] = problem
            counts.update([how, "ok " + how] if problem is None else [how])
            print(f"{'ok  ' if problem is None else 'FAIL'} {how:8} {name} {problem or ''}", flush=True)
    for how, what in ("recorded", "with the types and constants of launches"), ("guessed", "with guessed types and constants"):
        if counts[how]:
            print(f"{counts['ok ' + how]} of {counts[how]} kernels compile {what}")
    if survey.json:
        json.dump(table, open(survey.json, "w"), indent=1)


if __name__ == "__main__":
    main()
