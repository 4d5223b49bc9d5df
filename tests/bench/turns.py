# SPDX-License-Identifier: Apache-2.0
"""Times of calls on a processor, by turns."""
import statistics
import time


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
