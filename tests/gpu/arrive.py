# SPDX-License-Identifier: MIT
"""The first launch of a new program at nice -20, beside hogs of 52 ms kernels and beside nobody."""
import math
import statistics

import catalogue
from preempt import HOG, all_running, level, numbered

# Label: hogs, and whether all are scheduled.
CASES = {
    "arrive-stock": (0, False),
    "arrive-alone": (0, True),
    "arrive": (1, True),
    "arrive-4hogs": (4, True),
}


def plan(session):
    count = 20 if session.options.quick else 100
    session.step("arrive", 15 + len(CASES) * count * 0.7, arrive, count)


def percentile(values, share):
    return sorted(values)[max(0, math.ceil(share * len(values)) - 1)]


def newcomers(session, count, scheduled):
    found = []
    for _ in range(count):
        session.in_time()
        found.append(session.programs.answer([session.programs.built("arrive")], -20, scheduled)["first_us"])
    return found


def arrive(session, count):
    session.policy("weighted", True)
    rows = []
    for label, (hogs, scheduled) in CASES.items():
        names = numbered(HOG, hogs, "+pt")
        catalogue.need(session, names)
        with all_running(session, names):
            found = newcomers(session, count, scheduled)
            used = level(session, *names)
        for key, value in (("p50_us", statistics.median(found)), ("p99_us", percentile(found, 0.99))):
            session.record(f"{label}/{key}", value, "us", f"{count} new programs", "tests/gpu/run --only arrive", used)
        rows.append([str(hogs), "ptsched" if scheduled else "stock", str(count), f"{statistics.median(found):.0f}",
                     f"{percentile(found, 0.99):.0f}", f"{max(found):.0f}", used])
        session.say(" | ".join(rows[-1]))
    session.table("The first launch of a new program at nice -20 beside hogs of 52 ms kernels, us from before the launch "
                  "to after the wait", ["hogs", "scheduler", "programs", "p50", "p99", "largest", "level"], rows)
