# SPDX-License-Identifier: Apache-2.0
"""Compiles the launches that `run_library.py` recorded: types, constants, warps and stages are those of the library's host code.

usage: recorded.py TILEC FOLDER [--target T] [--most N] [--json FILE] [-I DIR]       FOLDER holds launches.jsonl"""
import argparse
import collections
import json
import os
import random
import subprocess
import sys


def command(tilec, launch, target, include):
    words = [tilec, launch["file"], "--kernel", launch["kernel"], "--target", target, "--emit=ptx", "-o", os.devnull,
             "--color=never", "--no-tunings"]
    words += ["--signature", launch["signature"]] if launch["signature"] else []
    for name, value in launch["constants"].items():
        words += ["-D", f"{name}={value}"]
    for option, value in ("--num-warps", launch["warps"]), ("--num-stages", launch["stages"]):
        words += [option, str(value)] if value else []
    return words + [word for folder in include for word in ("-I", folder)]


def read(folder):
    """Launches by kernel, or by the functions that a generated kernel applies: "FILE:NAME" -> launches."""
    found = collections.OrderedDict()
    for line in open(os.path.join(folder, "launches.jsonl")):
        launch = json.loads(line)
        for name in launch["functions"] or [f"{launch['at']}:{launch['kernel']}"]:
            found.setdefault(name, []).append(launch)
    return found


def problem(tilec, launch, target, include):
    """None, or the message."""
    try:
        done = subprocess.run(command(tilec, launch, target, include), capture_output=True, text=True, timeout=60)
    except subprocess.TimeoutExpired:
        return "not compiled within 60 s"
    if done.returncode == 0:
        return None
    errors = [line for line in done.stderr.splitlines() if "error" in line]
    return (errors or done.stderr.splitlines() or [f"exit status {done.returncode}"])[0]


def judge(tilec, launches, target, include, most):
    """None if the kernel's launches compile. Configurations of an autotuner that need too much shared memory do not count beside others:
    Triton's autotuner leaves them out too."""
    first = [launch for launch in launches if not launch["alternative"]] or launches
    first = random.Random(7).sample(first, min(most, len(first)))
    for launch in first:
        message = problem(tilec, launch, target, include)
        if message and "[E0605]" in message:
            others = [l for l in launches if l["alternative"] and l["signature"] == launch["signature"]]
            if any(problem(tilec, l, target, include) is None for l in others):
                continue
        if message:
            return message, launch
    return None, None


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("tilec")
    parser.add_argument("folder")
    parser.add_argument("--target", default="sm_90a")
    parser.add_argument("--most", type=int, default=4, help="launches of one kernel")
    parser.add_argument("--json")
    parser.add_argument("--only")
    parser.add_argument("-I", dest="include", action="append", default=[])
    options = parser.parse_args()
    table = {}
    for name, launches in read(options.folder).items():
        if options.only and options.only not in name:
            continue
        message, launch = judge(options.tilec, launches, options.target, options.include, options.most)
        table[name] = message
        print(f"{'FAIL' if message else 'ok  '} {name} {message or ''}", flush=True)
        if message:
            print("     " + " ".join(command(options.tilec, launch, options.target, options.include)), flush=True)
    print(f"{sum(m is None for m in table.values())} of {len(table)} kernels compile")
    if options.json:
        json.dump(table, open(options.json, "w"), indent=1)
    return any(table.values())


if __name__ == "__main__":
    sys.exit(main())
