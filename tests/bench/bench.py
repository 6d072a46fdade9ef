# SPDX-License-Identifier: MIT
"""Plans the cells that are not there yet, and measures them. What a cell is relative to, its
program and its hog alone and bare, is measured in the same call."""
import contextlib
import os
import statistics
import time
from typing import NamedTuple

import catalogue
import mps_daemon
import preempt
import report
from measure import rates, ratio, weights
from programs import ProgramError
from session import EXPECTED

WARM_UP = 0.5
START_S, DAEMON_S = 60, 15


def window_of(quick):
    return 1.2 if quick else 3.0


def seconds_of(cell, window):
    """About how long a cell takes, its programs running."""
    measured = cell.windows * window + (2.0 if cell.hog else 1.0)
    return measured if cell.rounds == 1 else cell.rounds * (measured + cell.windows * window + WARM_UP)


def estimate(left, window):
    """About how long these cells take, with what they are relative to and the start of the programs."""
    hogs = {cell.bare_hogs[0] for cell in left if cell.hog}
    bare = {cell.bare_program for cell in left if cell.hog} - {cell.bare_program for cell in left if not cell.hog}
    total = sum(seconds_of(cell, window) for cell in left) + (window + 1.5) * (len(hogs) + len(bare))
    return total + (START_S if left else 0) + (DAEMON_S if any(cell.with_mps for cell in left) else 0)


@contextlib.contextmanager
def reniced(session, names, nice):
    """The programs at another nice while the body runs; None: as they are."""
    pids = [session.server(name).pid for name in names] if nice is not None else []
    before = [os.getpriority(os.PRIO_PROCESS, pid) for pid in pids]
    try:
        for pid in pids:
            os.setpriority(os.PRIO_PROCESS, pid, nice)
        yield
    finally:
        for pid, old in zip(pids, before):
            with contextlib.suppress(ProcessLookupError):
                os.setpriority(os.PRIO_PROCESS, pid, old)


def ask(session, name, order, timeout):
    """A program that does not do as told is ended."""
    try:
        return session.server(name).ask(order, timeout)
    except ProgramError:
        session.drop(name)
        raise


def start(session, names):
    for problem in catalogue.start(session, names):
        raise ProgramError(problem)


def width(server):
    """How many blocks a step has: with a part of the threads, MPS shows programs a smaller GPU."""
    return server.facts.get("blocks", 1)


class Bench:
    def __init__(self, options, store):
        self.window = window_of(options.quick)
        self.store = store
        self.left = []  # the cells to do, the one under way included
        self.alone = {}  # a program's result, bare and alone
        self.hog_alone = {}  # a hog's blocks per second, bare and alone
        self.daemon = None

    # ---- what to do ----

    def plan(self, session, wanted):
        self.left = [cell for cell in wanted if not self.store.get(cell.name)]
        there = [cell.name for cell in wanted if cell not in self.left]
        if there:
            print(f"{len(there)} cells of an earlier call are taken from {self.store.path}: {', '.join(there)}")
        print(f"{len(self.left)} cells to do, about {estimate(self.left, self.window):.0f} s and 50 s to build")
        report.publish(session, self.store)
        bare = [cell for cell in self.left if not cell.with_mps]
        with_mps = [cell for cell in self.left if cell.with_mps]
        # Steps are not chosen by --only here: the cells have been.
        if self.left:
            session.plan.append(("start", START_S, self.start_all, ()))
        for cell in bare:
            session.plan.append((cell.name, seconds_of(cell, self.window), self.take, (cell,)))
        if with_mps:
            seconds = DAEMON_S + sum(seconds_of(cell, self.window) for cell in with_mps)
            session.plan.append(("mps", seconds, self.take_with_mps, (with_mps,)))

    def needed(self, cell):
        """The programs that a cell needs, those for what it is relative to first."""
        names = [cell.bare_program] if cell.bare_program not in self.alone else []
        names += [name for name in cell.bare_hogs[:1] if name not in self.hog_alone]
        return names + [cell.program, *cell.hogs]

    def start_all(self, session):
        """What the cells need, so that the start-ups overlap; no client of MPS, as its daemon does not run yet."""
        names = {name: None for cell in self.left for name in self.needed(cell) if "+mps" not in name}
        for problem in catalogue.start(session, names):
            session.say(f"does not start, will be tried again: {problem}")

    # ---- one cell ----

    def take(self, session, cell):
        try:
            found = self.measured(session, cell)
        finally:
            self.left.remove(cell)
            still = {name for other in self.left for name in self.needed(other)}
            for name in [name for name in session.servers if name not in still]:
                session.drop(name)
        self.store.add(cell.name, found)
        report.publish(session, self.store)
        session.check(cell.name, True)
        session.say(" | ".join(report.row(cell, found)))

    def measured(self, session, cell):
        if not cell.hog:
            return {"level": "stock", **absolute(cell, self.base(session, cell))}
        self.hog_base(session, cell)
        start(session, [cell.program, *cell.hogs])
        if cell.scheduler == "ptsched":
            session.policy("weighted", True)
        rounds = []
        for _ in range(cell.rounds):
            session.in_time()
            rounds.append(self.round(session, cell))
        return over_rounds(rounds)

    def round(self, session, cell):
        """The program alone, then beside its hogs."""
        if cell.rounds > 1:
            self.alone.pop(cell.bare_program, None)
        base, hog_base = self.base(session, cell), self.hog_base(session, cell)
        result, hog, level, turns = self.beside(session, cell)
        relative = {name: ratio(result[key], base[key])
                    for name, key in (("speed", "per_second"), ("p50", "p50_us"), ("p99", "p99_us"))}
        relative["hog"] = ratio(hog, hog_base)
        if turns:
            relative["work"], relative["turns"] = turns.work, turns.held - turns.work
            relative["rest"] = 1 - turns.held - relative["hog"]
        if cell.hog_nice is not None:
            table = weights()
            relative["total"] = relative["speed"] + relative["hog"]
            own = result["per_second"] * width(session.server(cell.program))
            relative["share"] = ratio(ratio(own, hog), table[20] / table[20 + cell.hog_nice])
        return {"level": level, **absolute(cell, result), **relative, "hog_blocks_per_second": hog,
                "alone": absolute(cell, base), "hog_alone_blocks_per_second": hog_base}

    def order(self, cell):
        return f"run {cell.windows * self.window} {WARM_UP}"

    def timeout(self, cell):
        return cell.windows * self.window + WARM_UP + 30

    def base(self, session, cell):
        """The program alone and bare."""
        name = cell.bare_program
        if name not in self.alone:
            start(session, [name])
            self.alone[name] = ask(session, name, self.order(cell), self.timeout(cell))
        return self.alone[name]

    def hog_base(self, session, cell):
        """Blocks per second of one of the hogs, alone and bare."""
        name = cell.bare_hogs[0]
        if name not in self.hog_alone:
            start(session, [name])
            with preempt.all_running(session, [name]) as hogs:
                self.hog_alone[name] = rates(hogs, self.window)[0] * width(hogs[0])
        return self.hog_alone[name]

    def beside(self, session, cell):
        """The program's result, the blocks per second of all its hogs, the level in use, and its Turns if it has some."""
        with reniced(session, cell.hogs, cell.hog_nice), preempt.all_running(session, cell.hogs) as hogs:
            # Levels are found out when others first use the device: not part of the figures.
            ask(session, cell.program, "steps 5", 60)
            with preempt.busy_cpus(session, cell.busy):
                before = used(session, cell)
                result = ask(session, cell.program, self.order(cell), self.timeout(cell))
                turns = turns_between(before, used(session, cell))
            begun, ended = result["start"], result["start"] + result["seconds"]
            hog = sum((server.count_at(ended) - server.count_at(begun)) / (ended - begun) * width(server)
                      for server in hogs)
            return result, hog, self.level(session, cell), turns

    def level(self, session, cell):
        names = [cell.program, *cell.hogs]
        if not cell.with_mps:
            return preempt.level(session, *names)
        served = self.daemon.clients()
        known = all(session.server(name).pid in served for name in names)
        return ("mps, 10 %" if cell.scheduler == "mps10" else "mps") + ("" if known else ", not confirmed")

    # ---- cells with MPS ----

    def take_with_mps(self, session, those):
        """The daemon runs for these cells alone."""
        try:
            with mps_daemon.daemon(session) as self.daemon:
                names = {name: None for cell in those for name in (cell.program, *cell.hogs)}
                for problem in catalogue.start(session, names):
                    session.say(f"does not start, will be tried again: {problem}")
                for cell in those:
                    session.attempt(cell.name, self.take, cell)
        except EXPECTED as error:
            for cell in those:
                if cell in self.left:
                    session.check(cell.name, False, f"no MPS: {error}")


class Turns(NamedTuple):
    """Of the time that passed: in which the program had the turn, and its work the GPU."""
    held: float
    work: float


def used(session, cell):
    """When, and by then: for how long the program had the turn, and its work the GPU; None: nobody knows."""
    if cell.scheduler != "ptsched":
        return None
    entity = session.broker.entity(session.server(cell.program).pid)
    return time.monotonic_ns(), entity["HELD_NS"], entity["GPU_NS"]


def turns_between(before, after):
    if not before:
        return None
    passed, held, work = (late - early for early, late in zip(before, after))
    return Turns(held / passed, work / passed)


def over_rounds(rounds):
    """The medians, and between what the ratios were; the lowest level."""
    if len(rounds) == 1:
        return rounds[0]
    found = {}
    for key, value in rounds[0].items():
        values = [each[key] for each in rounds]
        if key == "level":
            found[key] = min(values, key=worth)
        elif isinstance(value, dict):
            found[key] = {name: middle(each[name] for each in values) for name in value}
        else:
            found[key] = middle(values)
    found["spread"] = {key: [min(known), max(known)] for key in ("speed", "p50", "p99", "hog")
                       if (known := [each[key] for each in rounds if each[key] is not None])}
    found["rounds"] = len(rounds)
    return found


def worth(level):
    return ("not confirmed" not in level, preempt.LEVELS.index(level) if level in preempt.LEVELS else 0)


def middle(values):
    """Of those that are known; None: none is."""
    known = [value for value in values if value is not None]
    return statistics.median(known) if known else None


def absolute(cell, result):
    figures = {key: result[key] for key in ("n", "per_second", "p50_us", "p99_us", "max_us")}
    if cell.workload == "frames":
        figures["missed"] = ratio(result["missed"], result["due"])
    return figures
