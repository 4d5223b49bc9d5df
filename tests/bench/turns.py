# SPDX-License-Identifier: Apache-2.0
"""Times of calls on a processor, by turns, and the options of the programs that take them."""
import argparse
import os
import statistics
import time


def parser(seconds, of):
    p = argparse.ArgumentParser()
    p.add_argument("--threads", type=int, default=1)
    p.add_argument("--seconds", type=float, default=seconds, help=f"of each {of}")
    return p


def parse(p):
    """The options. Gives Tile and PyTorch so many threads; Tile must not be loaded yet."""
    options = p.parse_args()
    os.environ["TILE_NUM_THREADS"] = str(options.threads)
    import torch

    torch.set_num_threads(options.threads)
    return options


def medians(calls, seconds, threads):
    """Milliseconds of each call: medians of at least 5 turns and `seconds`. With one thread, of its processor time."""
    clock = time.thread_time if threads == 1 else time.perf_counter
    times = [[] for _ in calls]
    end = time.perf_counter() + seconds
    while time.perf_counter() < end or len(times[0]) < 5:
        for call, list_ in zip(calls, times):
            start = clock()
            call()
            list_.append((clock() - start) * 1e3)
    return [statistics.median(t) for t in times]
