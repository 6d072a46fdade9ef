# SPDX-License-Identifier: MIT
"""Clients of an MPS server: programs whose kernels leave room run beside each other there; one whose
kernels fill the GPU keeps the others from it, unless somebody gives out turns."""
import catalogue
import mps_daemon
import rounds as in_rounds

START_S = 25
UNDER, SCHEDULED = "+mps", "+mps+pt"

# Step: the program, another one of its kind, a hog, and the title.
CASES = {
    "narrow": ("equal", "equal-b", None, "Kernels of 1 ms with one block on each multiprocessor, twice at equal nice"),
    "wide": ("hi60", None, "wide52", "60 us kernels one at a time at nice -20, beside a hog whose kernels of 52 ms fill the GPU"),
}


def plan(session):
    count = 3 if session.options.quick else 5
    session.step("mps", START_S + len(CASES) * count * 3 * 2, under_mps, count, 1)


def under_mps(session, count, window):
    session.policy("weighted", True)
    with mps_daemon.daemon(session) as daemon:
        for step, (name, other, hog, title) in CASES.items():
            compare(session, daemon, f"mps/{step}", [each for each in (name, other) if each], hog, count, window, title)


def compare(session, daemon, step, names, hog, count, window, title):
    def with_hog(suffix):
        return [hog + suffix] if hog else []

    cases = {
        "alone": ("nobody, MPS", [names[0] + UNDER], []),
        "mps": ("all, MPS", [name + UNDER for name in names], with_hog(UNDER)),
        "ptsched": ("all, MPS and ptsched", [name + SCHEDULED for name in names], with_hog(SCHEDULED)),
    }
    wanted = in_rounds.everybody(cases)
    catalogue.need(session, wanted)
    in_rounds.compare(session, step, cases, count, window, f"Under MPS: {title}; relative to the first one alone")
    served = daemon.clients()
    strangers = [name for name in wanted if session.server(name).pid not in served]
    session.check(f"{step}: all programs were clients of MPS", not strangers, ", ".join(strangers))
    for name in wanted:
        session.drop(name)
