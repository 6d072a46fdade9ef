# SPDX-License-Identifier: MIT
"""Programs beside others, compared in rounds with the first of them alone and bare: hosts change
their speed from second to second."""
import contextlib
import statistics

from measure import extremes, ratio, show, spread_of
from preempt import level


def measured(session, names, hogs, window):
    """The programs' steps per second, together; the first one's p99; the lowest level."""
    with contextlib.ExitStack() as stack:
        for hog in hogs:
            stack.enter_context(session.running(hog))
        for name in names:
            session.server(name).results.clear()
            session.server(name).order(f"run {window} 0.3")
        found = [session.server(name).result(60) for name in names]
        used = level(session, *names, *hogs)
    return sum(each["per_second"] for each in found), found[0]["p99_us"], used


def everybody(cases):
    """All programs and hogs of the cases, each once."""
    return list(dict.fromkeys(each for _, names, hogs in cases.values() for each in names + hogs))


def compare(session, step, cases, rounds, window, title):
    """@cases: label: (what is beside, programs, hogs); the first one is what the others are compared with."""
    base = next(iter(cases))
    found = {label: [] for label in cases}
    for _ in range(rounds):
        for label, (_, names, hogs) in cases.items():
            session.in_time()
            found[label].append(measured(session, names, hogs, window))
    rows = []
    for label, (beside, _, _) in cases.items():
        speeds, p99s = ([ratio(each[figure], first[figure]) for each, first in zip(found[label], found[base])]
                        for figure in (0, 1))
        used = found[label][0][2]
        rows.append([beside, f"{statistics.median(each[0] for each in found[label]):.0f}",
                     show(statistics.median(speeds), "{:.3f}"), extremes(speeds),
                     show(statistics.median(p99s)), used])
        session.say(" | ".join(rows[-1]))
        if label == base:
            continue
        against = f"alone, bare, in the same round; median of {rounds}"
        command = f"tests/gpu/run --only {step}"
        session.record(f"{step}/{label}", statistics.median(speeds), "ratio", against, command, used)
        session.record(f"{step}/{label}/p99", statistics.median(p99s), "ratio", against, command, used)
        session.record(f"{step}/{label}/spread", spread_of(speeds), "ratio", "largest less smallest", command, used)
    session.table(title, ["beside", "steps per second", "speed", "in the rounds", "p99 of a step", "level"], rows)
