# SPDX-License-Identifier: Apache-2.0
"""Which kernels of other people's Triton files compile unchanged?

usage: survey.py TILEC FOLDER [--target T] [--verbose] [--only NAME] [--json FILE] [-I DIR]

Every function with @triton.jit that host code launches (`kernel[grid](...)`), or that carries an autotuner's
decorator, is compiled to PTX. The file is handed to tilec as it is; only the types of the parameters, which
Triton learns at the launch, are guessed here from how the kernel uses them: what is loaded from or stored to is
a pointer to f32 (or an integer, if it is used as an index), the rest are i32 or f32. Compile-time parameters get values by
their names: blocks powers of two, flags False, then True. A kernel counts as compiled if one guess compiles."""
import argparse
import ast
import json
import os
import re
import subprocess
import sys

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
    if isinstance(node, ast.Call) and called(node) in ("to", "multiple_of", "max_contiguous", "cast", "pointer_type") :
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
        self.constant = {n for n in self.params if "constexpr" in text[n]}
        defaults = a.defaults
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
            if n in self.constant:
                continue
            if n in pointers:
                types[n] = "*i64" if n in integers else "*f32"
            else:
                types[n] = "f32" if FLOATS.match(n) else "i32"
        return types

    def constants(self, flag, block):
        values = {}
        for n in sorted(self.constant):
            if n in self.defaults and isinstance(self.defaults[n], ast.Constant) and self.defaults[n].value is not None:
                continue
            low = n.lower()
            if re.search(r"dtype|_type$", low):
                values[n] = "float32"
            elif re.match(r"(num_warps|num_stages)$", low):
                values[n] = "4"
            elif re.search(r"reduction", low):
                values[n] = "mean"
            elif re.search(r"activation|mode|kind", low):
                values[n] = "none" if "mode" not in low else "0"
            elif re.search(r"eps|alpha|beta|scale|cap|smooth|temperature", low):
                values[n] = "0.5"
            elif re.search(r"block|tile|chunk|padded|bsz|_pad|_bs$|np2|pow2", low):
                values[n] = str(block)
            elif re.search(r"group", low):
                values[n] = "8"
            elif re.search(r"^(has|is|use|with|allow|even|need|inplace|return|save|accumulate|compute|one|bias|affine|causal|"
                           r"varlen|keep|casting|offset|divisible|do_|train|swap|trans|enable|fast|sparse|window|isimag|add_|update)|"
                           r"_only$|flag|mask|bias|inference|backward|online|_contiguous$", low):
                values[n] = flag
            else:
                values[n] = str(block)
        return values


def kernels_of(path):
    tree = ast.parse(open(path).read())
    functions, launched, decorated = {}, set(), set()
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            marks = [ast.unparse(d) for d in node.decorator_list]
            if any("triton.jit" in m or m == "jit" for m in marks):
                functions[node.name] = Kernel(node)
                if any(re.search(r"autotune|heuristics|libentry|libtuner", m) for m in marks):
                    decorated.add(node.name)
                if any("pointwise_dynamic" in m for m in marks):
                    functions[node.name].generated = True
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Subscript) and isinstance(node.func.value, ast.Name):
            launched.add(node.func.value.id)
    return functions, {n for n in functions if n in launched or n in decorated}


def compile_kernel(tilec, path, name, kernel, functions, args):
    problem = ""
    types = kernel.signature(functions)
    for flag in ("False", "True"):
        for block in (64, 16, 1024):
            command = [tilec, path, "--kernel", name, "--target", args.target, "--emit=ptx", "-o", "-", "--color=never"]
            if types:
                command += ["--signature", ",".join(f"{n}={t}" for n, t in types.items())]
            for n, v in kernel.constants(flag, block).items():
                command += ["-D", f"{n}={v}"]
            for folder in args.include:
                command += ["-I", folder]
            try:
                done = subprocess.run(command, capture_output=True, text=True, timeout=20)
            except subprocess.TimeoutExpired:
                return "error: too large: not compiled within 20 s"
            if done.returncode == 0:
                return ""
            if not problem or re.search(r"E0(30|21)", problem):
                problem = done.stderr
            if args.verbose:
                print(" ".join(command), file=sys.stderr)
    return problem


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("tilec")
    parser.add_argument("folder")
    parser.add_argument("--target", default="sm_90a")
    parser.add_argument("--only")
    parser.add_argument("--json")
    parser.add_argument("--skip", help="regular expression of files to leave out")
    parser.add_argument("--verbose", action="store_true")
    parser.add_argument("-I", dest="include", action="append", default=[])
    args = parser.parse_args()
    total, good, table = 0, 0, {}
    files = [os.path.relpath(os.path.join(folder, name), args.folder)
             for folder, _, names in os.walk(args.folder) for name in names if name.endswith((".py", ".tile"))]
    for file in sorted(files):
        path = os.path.join(args.folder, file)
        if args.skip and re.search(args.skip, file):
            continue
        functions, names = kernels_of(path)
        for name in sorted(names):
            if args.only and args.only not in (name, file):
                continue
            total += 1
            problem = compile_kernel(args.tilec, path, name, functions[name], functions, args)
            first = next((line for line in problem.splitlines() if "error:" in line), problem.strip().split("\n")[0] if problem else "")
            good += not problem
            table[f"{file}:{name}"] = re.sub(r"^.*?error: ", "", first)
            print(f"{'ok  ' if not problem else 'FAIL'} {file}:{name} {table[f'{file}:{name}']}", flush=True)
            if problem and args.verbose:
                print(problem, file=sys.stderr)
    print(f"{good} of {total} kernels compile")
    if args.json:
        json.dump(table, open(args.json, "w"), indent=1)


if __name__ == "__main__":
    main()
