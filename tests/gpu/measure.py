# SPDX-License-Identifier: MIT
"""The nice sweep, and what ptsched costs where nobody else is. Everything is a ratio to
something measured in the same run."""
import contextlib
import os
import re
import statistics
import time

import catalogue
from programs import TOP

NICE_STEPS = (-20, -15, -10, -5, 0, 1, 2, 5, 10, 15, 19)


class Times:
    """How long things are measured, in seconds."""

    def __init__(self, quick, every_nice):
        self.sweep = 2.0 if quick else 10.0
        self.launches = 0.2 if quick else 0.4
        self.pairs = 2 if quick else 4
        self.rounds = 3 if quick else 7
        self.nice_steps = range(-20, 20) if every_nice else (0, 5) if quick else NICE_STEPS


def plan(session):
    quick = session.options.quick
    times = Times(quick, session.options.every_nice)
    session.step("sweep", 5 + 2 * times.sweep + sum(times.sweep + settling(step) for step in times.nice_steps), sweep, times)
    session.step("unwanted", 35 + 6 * (2 if quick else 12), unwanted, 2 if quick else 12)
    session.step("overhead", 5 + 6 * times.pairs * times.launches, overhead, times)
    session.step("overhead/states", 30 + len(STATES) * times.rounds * (2 * times.launches + 0.5), states, times)


def ratio(value, base):
    return None if value is None or not base else value / base


def show(value, form="{:.2f}"):
    return "-" if value is None else form.format(value)


def spread_of(values):
    """What rounds differ by: the largest less the smallest."""
    return max(values) - min(values)


def extremes(values):
    return f"{min(values):.3f} to {max(values):.3f}"


# ---- nice sweep ----

def weights():
    """The table that the policy uses: nice -20 first."""
    with open(os.path.join(TOP, "kmod/policy/weight.c"), encoding="utf-8") as file:
        body = re.search(r"weights\[40\] = \{(.*?)\};", file.read(), re.S).group(1)
    return [int(number) for number in re.findall(r"\b(\d+),", body)]


def settling(difference):
    """Seconds until programs have spent what they had saved, two slices, beside a lighter one that has the rest."""
    return 6 if abs(difference) >= 10 else 1


def rates(servers, seconds, settle=1):
    """Steps per second of programs that run, after some time to get going."""
    time.sleep(settle)
    start = time.monotonic()
    time.sleep(seconds)
    end = time.monotonic()
    return [(server.count_at(end) - server.count_at(start)) / (end - start) for server in servers]


def pair(session, suffix, difference, seconds):
    first, second = (session.server(f"equal-{which}{suffix}") for which in "ab")
    os.setpriority(os.PRIO_PROCESS, first.pid, 0)
    os.setpriority(os.PRIO_PROCESS, second.pid, difference)
    try:
        with session.running(first.name), session.running(second.name):
            return rates((first, second), seconds, settling(difference))
    finally:
        os.setpriority(os.PRIO_PROCESS, second.pid, 0)


def sweep(session, times):
    """Two equal programs of 1 ms kernels, depth 2, reniced while they run."""
    session.policy("weighted", True)
    catalogue.need(session, [f"equal-{which}{suffix}" for which in "ab" for suffix in ("", "+pt")])
    table = weights()
    command = " ".join(catalogue.command(session.programs, "equal-a", "--seconds", "6"))
    with session.running("equal-a") as lone:
        [alone] = rates((lone,), times.sweep / 2)
    rows, off = [], {}
    for label, suffix, difference in [("stock", "", times.nice_steps[-1])] + [
            ("ptsched", "+pt", step) for step in times.nice_steps]:
        session.in_time()
        first, second = pair(session, suffix, difference, times.sweep)
        right = table[20] / table[20 + difference]
        shares = ratio(first, second)
        total = (first + second) / alone
        if label == "ptsched":
            off[difference] = abs(first / (first + second) - right / (1 + right))
        session.record(f"gpu/share/{label}/{difference}", ratio(shares, right), "ratio", "ratio of the weights", command)
        session.record(f"gpu/share/{label}/{difference}/total", total, "ratio", "one program alone, bare", command)
        rows.append([label, str(difference), show(shares), f"{right:.2f}", show(ratio(shares, right), "{:.3f}"),
                     f"{total:.3f}"])
        session.say(" | ".join(rows[-1]))
    worst = max(off, key=off.get)
    session.record("gpu/share/worst", off[worst], "ratio of the device", f"that of the weights; nice {worst} beside 0, of "
                   f"{len(off)} values in one window of {times.sweep:.0f} s each", command)
    session.table("Two equal programs at nice 0 and N, idle sharing on: GPU time of the first over the second's",
                  ["scheduler", "N", "measured", "weights", "measured over weights", "both over one alone"], rows)


# ---- what it costs when nobody else is there ----

# Of each: the figure, what it is, how long a window is, and how many of it there are with and without ptsched.
ALONE = {"launch": ("overhead/launch", "launches of an empty kernel", 0.1, 12),
         "small": ("overhead/torch-small", "small PyTorch operations", 0.1, 12),
         "train": ("overhead/train", "PyTorch training", 0.5, 4)}


def on_cpus(cpus, command):
    return ["taskset", "-c", ",".join(map(str, cpus)), *command]


def one_cpu():
    """Always the same one, since no two are equally fast."""
    return max(os.sched_getaffinity(0))


def on_one_cpu(command):
    return on_cpus([one_cpu()], command)


def pin(pid):
    """The threads that a program has by now, as on_one_cpu(). (Many would start slowly on one CPU.)"""
    for thread in os.listdir(f"/proc/{pid}/task"):
        with contextlib.suppress(ProcessLookupError):
            os.sched_setaffinity(int(thread), {one_cpu()})


def in_turns(session, name, seconds, rounds):
    """Steps per second in pairs of windows, (bare, scheduled); bare first in one round, last in the next."""
    # Whoever used the device last counts as a user of it for some time.
    session.server(name + "+pt").ask("run 0.4", 30)
    pairs = []
    for number in range(rounds):
        found = {}
        for suffix in (("", "+pt"), ("+pt", ""))[number % 2]:
            session.in_time()
            found[suffix] = session.server(name + suffix).ask(f"run {seconds}", 30)["per_second"]
        pairs.append((found[""], found["+pt"]))
    return pairs


def unwanted(session, seconds_each):
    """Programs alone, in turns with and without ptsched: each pair of windows gives a ratio. All of them on one CPU,
    and several of each, since one process is faster than the next by more than what is to be measured."""
    session.policy("weighted", True)
    wanted = [(f"{name}-{copy}{suffix}", catalogue.command(session.programs, name, "--serve"),
               catalogue.nice_of(name), bool(suffix))
              for name, (*_, copies) in ALONE.items() for copy in range(copies) for suffix in ("", "+pt")]
    session.need_servers(wanted)
    for name, *_ in wanted:
        pin(session.server(name).pid)
    rows = []
    for name, (label, title, seconds, copies) in ALONE.items():
        rounds = max(1, int(seconds_each / seconds / copies))
        pairs = [pair for copy in range(copies) for pair in in_turns(session, f"{name}-{copy}", seconds, rounds)]
        ratios, bare = [scheduled / alone for alone, scheduled in pairs], [alone for alone, _ in pairs]
        low, _, high = statistics.quantiles(ratios, n=4)
        command = " ".join(catalogue.command(session.programs, name, "--serve"))
        session.record(label, statistics.median(ratios), "ratio", "the same program without ptsched, in turns", command)
        session.record(f"{label}/quartiles", high - low, "ratio", f"of {len(pairs)} pairs: upper less lower", command)
        rows.append([title, str(len(pairs)), f"{statistics.median(bare):.0f}", f"{statistics.median(ratios):.4f}",
                     f"{low:.4f} to {high:.4f}"])
        session.say(" | ".join(rows[-1]))
    session.table("Nobody else there: speed under ptsched relative to bare, in pairs of windows",
                  ["program", "pairs", "bare per second", "median", "quartiles"], rows)
    for suffix, label in (("", "idle-bare"), ("+pt", "idle")):
        idle(session, label, [name for name, *_ in wanted if name.endswith("+pt") == bool(suffix)])


def cpu_ticks(pid):
    with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
        fields = file.read().rsplit(")", 1)[1].split()
    return int(fields[11]) + int(fields[12])


def idle(session, label, names):
    """Programs that do nothing use no CPU time, ptsched's threads included."""
    time.sleep(0.5)
    pids = [session.server(name).pid for name in names]
    before = sum(map(cpu_ticks, pids))
    time.sleep(2)
    used = sum(map(cpu_ticks, pids)) - before
    session.record(f"overhead/{label}", used * 10, "ms", f"CPU time of {len(pids)} idle programs in 2 s", "")
    session.say(f"CPU time of {len(pids)} idle programs in 2 s: {used * 10} ms ({label})")


# ---- the cost of a launch ----

def overhead(session, times):
    """Launches of an empty kernel, in turns with and without ptsched, on one CPU."""
    programs = session.programs
    arguments = on_one_cpu([programs.built("launch_overhead"), "--serve"])
    pairs = [(f"launch-{i}", f"launch-{i}+pt") for i in range(times.pairs)]
    session.policy("weighted", True)
    wanted = [(name, arguments, -20, name.endswith("+pt")) for both in pairs for name in both]
    session.need_servers(wanted)
    found = {False: [], True: []}
    means = {False: [], True: []}
    for _ in range(3):
        for both in pairs:
            for name in both:
                session.in_time()
                result = session.server(name).ask(f"run {times.launches}", 30)
                found[name.endswith("+pt")].append(result["ns"])
                means[name.endswith("+pt")].append(result["mean_ns"])
    bare, scheduled = statistics.median(found[False]), statistics.median(found[True])
    mean = statistics.median(means[True]) - statistics.median(means[False])
    spread = spread_of(found[False])
    command = "tests/gpu/run --only overhead"
    session.record("gpu/launch/bare", bare, "ns", "", command)
    session.record("gpu/launch/added", scheduled - bare, "ns", "the same launch without ptsched", command)
    session.record("gpu/launch/added-mean", mean, "ns", "the same launch without ptsched", command)
    session.record("gpu/launch/spread", spread, "ns", "largest less smallest bare figure", command)
    for name, _, _, _ in wanted:
        session.drop(name)
    row = [f"{bare:.1f}", f"{scheduled:.1f}", f"{scheduled - bare:+.1f}", f"{mean:+.1f}", f"{spread:.1f}", "20"]
    session.say(" | ".join(row))
    session.table("One launch of an empty kernel, ns",
                  ["bare", "ptsched", "added (median)", "added (mean)", "spread of bare", "target"], [row])


# Label: the state of the world, beside whom, the launching program's nice, and whether each launch comes after a pause.
STATES = {
    "alone": ("holding, nobody else there", None, -20, False),
    "lighter": ("holding, others that weigh less wait", "hog52-0+pt", -20, False),
    "equal": ("holding, one that weighs as much waits", "equal-a+pt", 0, False),
    "preadmitted": ("let in at once, others that weigh less run", "hog52-0+pt", -20, True),
    "waiting": ("waiting until one that weighs as much has had its turn", "equal-a+pt", 0, True),
}
PAUSES = 40


def states(session, times):
    """What a launch costs the thread in each state of the world: bare and alone, then scheduled and in that state."""
    # Two CPUs, one of them for the agent, and always the same ones.
    arguments = on_cpus(sorted(os.sched_getaffinity(0))[-2:], [session.programs.built("launch_overhead"), "--serve"])
    names = ("launches", "launches+pt")
    session.need_servers([(name, arguments, -20, name.endswith("+pt")) for name in names])
    catalogue.need(session, {beside: None for _, beside, *_ in STATES.values() if beside})
    session.policy("weighted", True)
    rows = []
    for label, (title, beside, nice, pauses) in STATES.items():
        order, figure = (f"steps {PAUSES}", "cpu_ns") if pauses else (f"run {times.launches}", "ns")
        os.setpriority(os.PRIO_PROCESS, session.server(names[1]).pid, nice)
        found = []
        for _ in range(times.rounds):
            session.in_time()
            bare = session.server(names[0]).ask(order, 30)[figure]
            with session.running(beside):
                session.server(names[1]).ask("run 0.1", 30)
                found.append((bare, session.server(names[1]).ask(order, 60)[figure]))
        ratios = [scheduled / bare for bare, scheduled in found]
        bare, added = (statistics.median(values) for values in
                       zip(*((bare, scheduled - bare) for bare, scheduled in found)))
        command = "tests/gpu/run --only overhead/states"
        against = "the same launch bare and alone, in turns"
        session.record(f"overhead/{label}-launch", statistics.median(ratios), "ratio", against, command)
        session.record(f"overhead/{label}-launch/added", added, "ns", against, command)
        session.record(f"overhead/{label}-launch/spread", spread_of(ratios), "ratio",
                       f"{times.rounds} rounds: largest less smallest", command)
        rows.append([title, "CPU time of the first after a pause" if pauses else "one of many", f"{bare:.0f}",
                     f"{added:+.0f}", f"{statistics.median(ratios):.3f}", extremes(ratios)])
        session.say(" | ".join(rows[-1]))
    for name in names:
        session.drop(name)
    session.table("A launch of an empty kernel in each state of the world, ns",
                  ["state", "launch", "bare", "added", "ratio", "in the rounds"], rows)
