# SPDX-License-Identifier: MIT
"""One program on two GPUs: data-parallel training at nice -20 with a hog at nice 19 on each GPU.
Left out where there is one GPU."""
import contextlib
import statistics
import subprocess

import catalogue
from measure import ratio, show
from preempt import level
from programs import ProgramError

HOGS = ("hog-gpu0", "hog-gpu1")
# Label: title, the programs, and the hogs' suffix; None: no hogs.
CASES = {
    "alone": ("nobody", ["ddp"], None),
    "scheduled": ("nobody, ptsched", ["ddp+pt"], None),
    "stock": ("a hog on each GPU, stock", ["ddp"], ""),
    "ddp": ("a hog on each GPU, ptsched", ["ddp+pt"], "+pt"),
    "two": ("the same program once more, ptsched", ["ddp+pt", "ddp-b+pt"], None),
}


def plan(session):
    rounds = 3 if session.options.quick else 7
    session.step("gpus2", 60 + rounds * len(CASES) * 3, ddp, rounds, 1.5)


def count_gpus():
    try:
        return subprocess.run(["nvidia-smi", "-L"], capture_output=True, text=True, timeout=30,
                              check=True).stdout.count("GPU ")
    except (OSError, subprocess.SubprocessError):
        return 0


def start(session):
    """The training programs, and on each GPU a hog, bare and scheduled."""
    wanted = []
    for name in ("ddp", "ddp+pt", "ddp-b+pt"):
        base, _, how = name.partition("+")
        wanted.append((name, catalogue.command(session.programs, base, "--serve"), -20, how == "pt"))
    hog = catalogue.command(session.programs, "hog52", "--serve")
    for suffix in ("", "+pt"):
        for gpu, name in enumerate(HOGS):
            wanted.append((name + suffix, hog, 19, bool(suffix), {"CUDA_VISIBLE_DEVICES": str(gpu)}))
    for problem in session.start_servers(wanted):
        raise ProgramError(problem)


def measured(session, names, suffix, window):
    """The programs' steps per second, together, and the lowest level."""
    hogs = [hog + suffix for hog in HOGS] if suffix is not None else []
    with contextlib.ExitStack() as stack:
        for hog in hogs:
            stack.enter_context(session.running(hog))
        for name in names:
            session.server(name).results.clear()
            session.server(name).order(f"run {window} 0.3")
        found = [session.server(name).result(60) for name in names]
        used = level(session, *names, *hogs)
    return sum(each["per_second"] for each in found), found[0]["p99_us"], used


def ddp(session, rounds, window):
    if count_gpus() < 2:
        session.say("needs two GPUs: left out")
        return
    start(session)
    session.policy("weighted", True)
    found = {label: [] for label in CASES}
    for _ in range(rounds):
        for label, (_, names, suffix) in CASES.items():
            session.in_time()
            found[label].append(measured(session, names, suffix, window))
    rows = []
    for label, (title, _, _) in CASES.items():
        speeds, p99s = ([ratio(each[figure], alone[figure]) for each, alone in zip(found[label], found["alone"])]
                        for figure in (0, 1))
        used = found[label][0][2]
        rows.append([title, f"{statistics.median(each[0] for each in found[label]):.0f}",
                     show(statistics.median(speeds), "{:.3f}"), f"{min(speeds):.3f} to {max(speeds):.3f}",
                     show(statistics.median(p99s)), used])
        session.say(" | ".join(rows[-1]))
        if label == "alone":
            continue
        against = f"alone, bare, in the same round; median of {rounds}"
        command = "tests/gpu/run --only gpus2"
        session.record(f"gpus2/{label}", statistics.median(speeds), "ratio", against, command, used)
        session.record(f"gpus2/{label}/p99", statistics.median(p99s), "ratio", against, command, used)
        session.record(f"gpus2/{label}/spread", max(speeds) - min(speeds), "ratio", "largest less smallest", command, used)
    session.table("Data-parallel training by two ranks on two GPUs at nice -20, relative to alone",
                  ["beside", "steps per second", "speed", "in the rounds", "p99 of a step", "level"], rows)
