# SPDX-License-Identifier: MIT
"""What the Python programs of this folder have in common: their command line, a timed
loop, and the orders of serve.hpp on standard input."""
import argparse
import json
import os
import queue
import signal
import sys
import threading
import time


class Loop:
    """Runs job.step() again and again.

    job.reset() puts the job into its initial state, step() does one unit of work and
    returns when the GPU has done it, digest() tells of the state: {"hash", "value"}.
    """

    def __init__(self, job, ticks):
        self.job = job
        self.ticks = ticks
        self.stop = threading.Event()
        self.count = 0

    def run(self, seconds, warm_up=0.0, steps=0):
        self.job.reset()
        latencies = []
        self.count = 0
        skipped = 0
        start = time.monotonic()
        measured_from = start + warm_up
        end = measured_from + seconds
        ended = threading.Event()
        ticker = threading.Thread(target=self.tick, args=(ended,), daemon=True)
        if self.ticks:
            ticker.start()
        while not self.stop.is_set():
            begun = time.monotonic()
            if self.count >= steps if steps else begun >= end:
                break
            self.job.step()
            if begun < measured_from:
                skipped += 1
            else:
                latencies.append(time.monotonic() - begun)
            self.count += 1
        elapsed = time.monotonic() - measured_from
        ended.set()
        if self.ticks:
            ticker.join()
        return self.result(measured_from, elapsed, self.count - skipped, sorted(latencies))

    def result(self, start, elapsed, count, latencies):
        def percentile(fraction):
            if not latencies:
                return 0.0
            return round(latencies[int(fraction * (len(latencies) - 1) + 0.5)] * 1e6, 2)

        return {"event": "result", "start": start, "seconds": elapsed, "n": count,
                "per_second": count / elapsed if elapsed > 0 else 0.0,
                "p50_us": percentile(0.5), "p99_us": percentile(0.99),
                "max_us": percentile(1), **self.job.digest()}

    def tick(self, ended):
        while True:
            say({"event": "tick", "t": time.monotonic(), "n": self.count})
            if ended.wait(0.05):
                return


def say(event):
    print(json.dumps(event), flush=True)


def read_orders(orders, loop):
    # Not sys.stdin: a forked child closes that, and would wait for this thread's lock.
    for line in os.fdopen(os.dup(0)):
        words = line.split()
        if words == ["quit"]:
            break
        if words == ["stop"]:
            loop.stop.set()
        elif words:
            orders.put(words)
    loop.stop.set()
    orders.put(["quit"])


def serve(loop):
    orders = queue.Queue()
    threading.Thread(target=read_orders, args=(orders, loop), daemon=True).start()
    say({"event": "ready", "pid": os.getpid()})
    while True:
        words = orders.get()
        if words[0] == "quit":
            return
        loop.stop.clear()
        if words[0] == "steps":
            say(loop.run(0, steps=int(words[1])))
        else:
            say(loop.run(*(float(word) for word in words[1:])))


def main(description, make_job):
    parser = argparse.ArgumentParser(description=description)
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--seconds", type=float, help="run for this long")
    what.add_argument("--steps", type=int, help="do this many steps, for comparing results")
    what.add_argument("--serve", action="store_true", help="take orders on standard input")
    parser.add_argument("--ticks", action="store_true", help="print the count while running")
    parser.add_argument("--json", action="store_true", help="print the result as JSON")
    arguments = parser.parse_args()
    job = make_job()
    job.reset()
    job.step()  # what a first step compiles and allocates
    loop = Loop(job, arguments.ticks)
    if arguments.serve:
        serve(loop)
        return
    signal.signal(signal.SIGTERM, lambda *_: loop.stop.set())
    result = loop.run(arguments.seconds or 0, steps=arguments.steps or 0)
    if arguments.json:
        say(result)
        return
    print(f"{result['n']} steps in {result['seconds']:.3f} s: {result['per_second']:.2f} per second")
    print(f"latency us: p50 {result['p50_us']}, p99 {result['p99_us']}, max {result['max_us']}")
    print(f"value {result['value']}, hash {result['hash']}")
