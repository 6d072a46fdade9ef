# SPDX-License-Identifier: MIT
"""What taking work off the hardware is for: an important program beside hogs whose kernels
are long, its wake-ups, and programs of equal weight. Everything is compared with the same
programs alone, or under the driver's own time slicing, in the same run."""
import contextlib
import os
import statistics
import sys

import catalogue
from measure import extremes, on_cpus, ratio, rates, show, spread_of, weights

HOG = "hog52"
LEVELS = ("account", "gate", "slice", "preempt")
STOCK, PTSCHED = "", "+pt"


def plan(session):
    quick = session.options.quick
    window = 1.5 if quick else 4
    wakes = 100 if quick else 1000
    session.step("preempt/loop", 25 + 5 * (window + 1), loop, window)
    session.step("preempt/torch", 20 + (4 if quick else 24) * 3.5, torch, 0.5, 4 if quick else 24)
    rows = []
    for label in WAKES:
        session.step(f"preempt/{label}", 3 + 0.042 * wakes, wake, label, wakes, rows)
    session.step("preempt/wakes", 0, wake_table, rows)
    session.step("preempt/equals", 15 + 28 * window, equals, window)


def numbered(name, count, suffix):
    return [f"{name}-{i}{suffix}" for i in range(count)]


@contextlib.contextmanager
def all_running(session, names):
    """Programs that run while the body does."""
    try:
        with contextlib.ExitStack() as stack:
            for name in names:
                stack.enter_context(session.running(name))
            yield [session.server(name) for name in names]
    finally:
        for name in names:
            # Its kernel stays on the GPU as long as the program lives, beside all that is measured later.
            if name.startswith("persistent"):
                session.drop(name)


def level(session, *names):
    """The lowest level among scheduled programs, as the scheduler knows it."""
    found = [session.broker.entity(session.server(name).pid) for name in names if name.endswith(PTSCHED)]
    return LEVELS[min(entity["MECHANISM"] for entity in found)] if found else "stock"


def record(session, name, value, unit, against, used):
    """A figure, with the level at which it was obtained."""
    session.record(name, value, unit, against, "tests/gpu/run --only preempt", used)


def loop(session, window):
    """60 us kernels one at a time at nice -20, beside hogs of 52 ms kernels at nice 19."""
    catalogue.need(session, [name + suffix for suffix in (STOCK, PTSCHED) for name in ("hi60", *numbered(HOG, 4, ""))])
    session.policy("weighted", True)
    order = f"run {window} 1"
    alone = session.server("hi60").ask(order, window + 20)
    rows = [["none", "stock", "1.000", "1.00", "1.00", "stock"]]
    for hogs in (1, 4):
        for suffix in (STOCK, PTSCHED):
            session.in_time()
            names = numbered(HOG, hogs, suffix)
            with all_running(session, names):
                found = session.server("hi60" + suffix).ask(order, window + 30)
                used = level(session, "hi60" + suffix, *names)
            speed, p50, p99 = (ratio(found[key], alone[key]) for key in ("per_second", "p50_us", "p99_us"))
            if suffix:
                label = "1hog" if hogs == 1 else f"{hogs}hogs"
                record(session, f"loop/{label}", speed, "ratio", "alone, bare", used)
                record(session, f"loop/p99-{label}", p99, "ratio", "alone, bare", used)
            else:
                record(session, f"loop/stock-{hogs}", speed, "ratio", "alone, bare", used)
            rows.append([str(hogs), "ptsched" if suffix else "stock", show(speed, "{:.3f}"), show(p50), show(p99), used])
            session.say(" | ".join(rows[-1]))
    session.table("60 us kernels at nice -20 beside hogs of 52 ms kernels at nice 19, relative to alone",
                  ["hogs", "scheduler", "speed", "p50", "p99", "level"], rows)


# A program that sleeps 30 to 50 ms and then has one 60 us kernel: beside what, and whether the CPUs are busy.
HOGS = numbered(HOG, 4, "")
WAKES = {
    "wake-alone": ("none", [], STOCK, False), "wake-stock": ("1", HOGS[:1], STOCK, False),
    "wake": ("1", HOGS[:1], PTSCHED, False), "wake-4hogs": ("4", HOGS, PTSCHED, False),
    "wake-persistent": ("a kernel that never ends", ["persistent"], PTSCHED, False),
    "wake-busy-stock": ("1, all CPUs busy", HOGS[:1], STOCK, True),
    "wake-busy-alone": ("none, all CPUs busy", [], STOCK, True),
    "wake-busy": ("1, all CPUs busy", HOGS[:1], PTSCHED, True),
}


def wake(session, label, wakes, rows):
    title, hogs, suffix, busy = WAKES[label]
    names = [name + suffix for name in hogs]
    catalogue.need(session, ["wake" + suffix, *names])
    session.policy("weighted", True)
    with all_running(session, names), busy_cpus(session, busy), stolen_time() as stolen:
        # Levels are found out when others first use the device: not part of the figures.
        session.server("wake" + suffix).ask("steps 5", 30)
        found = session.server("wake" + suffix).ask(f"steps {wakes}", 60 + wakes * 0.2)
        used = level(session, "wake" + suffix, *names)
    for key in ("p50_us", "p99_us"):
        record(session, f"{label}/{key}", found[key], "us", "from before the launch to after the wait", used)
    rows.append([title, "ptsched" if suffix else "stock", str(wakes), f"{found['p50_us']:.0f}",
                 f"{found['p99_us']:.0f}", f"{found['with_cpu_p99_us']:.0f}", f"{found['max_us']:.0f}", used])
    session.say(" | ".join(rows[-1]) + f"; the machine's own host had its CPUs for {stolen[0]:.1%} of the time")


def wake_table(session, rows):
    session.table("A 60 us kernel after 30 to 50 ms of sleep, beside hogs of 52 ms kernels, us",
                  ["hogs", "scheduler", "wake-ups", "p50", "p99", "p99 less waits for a CPU", "largest", "level"], rows)


def cpu_times():
    """Of all CPUs together since the start: all their time, and what a hypervisor's other guests had of it."""
    with open("/proc/stat", encoding="utf-8") as file:
        fields = [int(field) for field in file.readline().split()[1:]]
    return sum(fields[:8]), fields[7]


@contextlib.contextmanager
def stolen_time():
    """A list that afterwards has the share of the CPUs' time that a hypervisor took."""
    share, (all_before, stolen_before) = [], cpu_times()
    yield share
    all_after, stolen_after = cpu_times()
    share.append((stolen_after - stolen_before) / max(1, all_after - all_before))


@contextlib.contextmanager
def busy_cpus(session, busy):
    """Two endless loops for each CPU, at nice 0, while the body runs."""
    loops = [session.programs.start([sys.executable, "-c", "while True: pass"])
             for _ in range(2 * os.cpu_count() if busy else 0)]
    try:
        yield
    finally:
        for process in loops:
            process.kill()
        for process in loops:
            process.wait()


def start_apart(session, *names):
    """Programs, bare and scheduled, each kind on its share of the CPUs."""
    cpus = sorted(os.sched_getaffinity(0))
    share = max(1, len(cpus) // len(names))
    wanted = []
    for i, name in enumerate(names):
        command = on_cpus(cpus[i * share:(i + 1) * share] or cpus, catalogue.command(session.programs, name, "--serve"))
        wanted += [(name + suffix, command, catalogue.nice_of(name), bool(suffix)) for suffix in (STOCK, PTSCHED)]
    session.need_servers(wanted)


def torch(session, window, rounds):
    """PyTorch inference at nice -20 beside PyTorch training at 19, in rounds of short windows: it is bound by the CPU,
    whose speed changes from second to second. Each has CPUs to itself."""
    session.policy("weighted", True)
    start_apart(session, "infer-apart", "train-apart")
    cases = {("none", "stock"): STOCK, ("none", "ptsched"): PTSCHED, ("training", "stock"): STOCK,
             ("training", "ptsched"): PTSCHED}
    found = {case: [] for case in cases}
    for _ in range(rounds):
        for (hog, scheduler), suffix in cases.items():
            session.in_time()
            with session.running("train-apart" + suffix if hog == "training" else None):
                found[hog, scheduler].append(session.server("infer-apart" + suffix).ask(f"run {window} 0.1", 30))
                used = level(session, "infer-apart" + suffix, "train-apart" + suffix)
    rows = []
    for (hog, scheduler), results in found.items():
        relative = [[ratio(result[key], alone[key]) for result, alone in zip(results, found["none", "stock"])]
                    for key in ("per_second", "p50_us", "p99_us")]
        speed, p50, p99 = (statistics.median(ratios) for ratios in relative)
        rows.append([hog, scheduler, show(speed, "{:.3f}"), extremes(relative[0]),
                     show(p50), show(p99)])
        session.say(" | ".join(rows[-1]))
    record(session, "torch/throughput", speed, "ratio", "alone, bare, in the same round; median", used)
    record(session, "torch/p99", p99, "ratio", "alone, bare, in the same round; median", used)
    session.table(f"PyTorch inference at nice -20 beside PyTorch training at 19, relative to alone: medians of {rounds} "
                  "rounds", ["beside", "scheduler", "speed", "in the rounds", "p50", "p99"], rows)


def equals(session, window):
    """Programs of 1 ms kernels, two in flight, that weigh the same; and nice 0 against 5."""
    letters = ("equal-a", "equal-b", "equal-c", "equal-d")
    catalogue.need(session, [name + suffix for suffix in (STOCK, PTSCHED) for name in letters])
    session.policy("weighted", True)

    def alone():
        with all_running(session, ["equal-a"]) as [lone]:
            return rates([lone], window)[0]

    rows, before = [], alone()
    for count, suffix in ((2, STOCK), (4, STOCK), (2, PTSCHED), (4, PTSCHED)):
        session.in_time()
        names = [name + suffix for name in letters[:count]]
        with all_running(session, names) as servers:
            # Enough that it matters little that one of them may be two turns ahead at either end: some 130 turns of
            # each in 4 s.
            found = rates(servers, count * window * (2 if suffix else 1))
            used = level(session, *names)
        after = alone()
        total, spread = 2 * sum(found) / (before + after), spread_of(found) / (sum(found) / count)
        before = after
        label = "" if suffix else "-stock"
        record(session, f"total{label}/{count}", total, "ratio", "one alone, bare, before and after", used)
        record(session, f"share{label}/{count}-spread", spread, "ratio", "largest less smallest over the mean", used)
        rows.append([str(count), "ptsched" if suffix else "stock", show(total, "{:.3f}"), show(spread, "{:.3f}"), used])
        session.say(" | ".join(rows[-1]))
    session.table("Equal programs of 1 ms kernels", ["programs", "scheduler", "all over one alone", "spread", "level"], rows)
    nice_share(session, window, weights())


def nice_share(session, window, table):
    names = ["equal-a+pt", "equal-b+pt"]
    servers = [session.server(name) for name in names]
    os.setpriority(os.PRIO_PROCESS, servers[1].pid, 5)
    with all_running(session, names):
        first, second = rates(servers, 2 * window)
        used = level(session, *names)
    os.setpriority(os.PRIO_PROCESS, servers[1].pid, 0)
    share = first / second / (table[20] / table[25])
    record(session, "share/nice0-5", share, "ratio", "ratio of the weights", used)
    session.say(f"nice 0 against 5: {share:.3f} of the weights, level {used}")
