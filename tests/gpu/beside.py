# SPDX-License-Identifier: MIT
"""Two programs of equal nice on one GPU: where both leave it idle for much of their time, they are to
lose nothing to turns; where they keep it busy, they take turns."""
import catalogue
import rounds as in_rounds

PROGRAMS = ("train", "infer", "hi60")


def plan(session):
    rounds = 3 if session.options.quick else 7
    for name in PROGRAMS:
        session.step(f"beside/{name}", 15 + rounds * 4 * 2, pair, name, rounds, 1)


def pair(session, name, rounds, window):
    twice = [name, name + "-b"]
    cases = {
        "alone": ("nobody", [name], []),
        "scheduled": ("nobody, ptsched", [name + "+pt"], []),
        "stock": ("the same program once more, stock", twice, []),
        "two": ("the same program once more, ptsched", [each + "+pt" for each in twice], []),
    }
    names = in_rounds.everybody(cases)
    catalogue.need(session, names)
    session.policy("weighted", True)
    in_rounds.compare(session, f"beside/{name}", cases, rounds, window,
                      f"{name} twice on one GPU, at equal nice, relative to once alone")
    for each in names:
        session.drop(each)
