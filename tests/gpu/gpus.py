# SPDX-License-Identifier: MIT
"""One program on all GPUs: data-parallel training at nice -20 with a hog at nice 19 on each GPU, and
with the same program once more; and two that fill the GPUs, as groups and without. Left out where
there is one GPU."""
import subprocess

import catalogue
import rounds as in_rounds


def cases(hogs):
    return {
        "alone": ("nobody", ["ddp"], []),
        "scheduled": ("nobody, ptsched", ["ddp+pt"], []),
        "stock": ("a hog on each GPU, stock", ["ddp"], hogs),
        "ddp": ("a hog on each GPU, ptsched", ["ddp+pt"], [hog + "+pt" for hog in hogs]),
        "two-stock": ("the same program once more, stock", ["ddp", "ddp-b"], []),
        "two": ("the same program once more, ptsched", ["ddp+pt", "ddp-b+pt"], []),
    }


# Of programs that fill the GPUs, a collective operation waits for a rank that has no turn.
FULL_CASES = {
    "full-alone": ("nobody", ["full"], []),
    "full-two-stock": ("the same program once more, stock", ["full", "full-b"], []),
    "full-two-apart": ("the same program once more, ptsched, no groups", ["full-apart+pt", "full-apart-b+pt"], []),
    "full-two": ("the same program once more, ptsched, each a group", ["full-group+pt", "full-group-b+pt"], []),
}


def plan(session):
    rounds = 3 if session.options.quick else 7
    name = f"gpus{max(count_gpus(), 2)}"
    session.step(name, 60 + rounds * len(cases([])) * 3, ddp, name, rounds, 1.5)
    session.step(f"{name}/full", 60 + rounds * len(FULL_CASES) * 4, full, f"{name}/full", rounds, 2.0)


def count_gpus():
    try:
        return subprocess.run(["nvidia-smi", "-L"], capture_output=True, text=True, timeout=30,
                              check=True).stdout.count("GPU ")
    except (OSError, subprocess.SubprocessError):
        return 0


def start(session, hogs):
    """The training programs, and on each GPU a hog, bare and scheduled."""
    wanted = []
    ranks = {"DDP_RANKS": str(len(hogs))}
    for name in ("ddp", "ddp-b", "ddp+pt", "ddp-b+pt"):
        base, _, how = name.partition("+")
        wanted.append((name, catalogue.command(session.programs, base, "--serve"), -20, how == "pt", ranks))
    hog = catalogue.command(session.programs, "hog52", "--serve")
    for suffix in ("", "+pt"):
        for gpu, name in enumerate(hogs):
            wanted.append((name + suffix, hog, 19, bool(suffix), {"CUDA_VISIBLE_DEVICES": str(gpu)}))
    session.need_servers(wanted)


def ddp(session, name, rounds, window):
    if count_gpus() < 2:
        session.say("needs two GPUs: left out")
        return
    hogs = [f"hog-gpu{gpu}" for gpu in range(count_gpus())]
    start(session, hogs)
    session.policy("weighted", True)
    in_rounds.compare(session, name, cases(hogs), rounds, window,
                      f"Data-parallel training by {len(hogs)} ranks, each on a GPU, at nice -20, relative to alone")


def full(session, step, rounds, window):
    if count_gpus() < 2:
        session.say("needs two GPUs: left out")
        return
    words = catalogue.command(session.programs, "ddp", "--serve")
    wanted = []
    for _, names, _ in FULL_CASES.values():
        for name in names:
            environment = {"DDP_FILLS": "1", "DDP_RANKS": str(count_gpus()), "PTSCHED_GROUP": "none" if "apart" in name else name}
            wanted.append((name, words, 0, name.endswith("+pt"), environment))
    session.need_servers(list({one[0]: one for one in wanted}.values()))
    session.policy("weighted", True)
    in_rounds.compare(session, step, FULL_CASES, rounds, window,
                      "Data-parallel training that fills all GPUs, two programs of one nice, relative to one alone")
