# SPDX-License-Identifier: MIT
"""GPU time charged to programs against what their kernels take on a device that is never idle,
alone (where it is sampled) and beside an equal (where it is measured)."""
import time

import catalogue
from measure import show
from programs import ProgramError

# Of a kernel in us: kernels in flight, and so many that the bare run takes about a second.
DURATIONS = {20: (32, 50000), 100: (16, 10000), 1000: (4, 1000), 10000: (2, 100), 200000: (2, 5)}
OTHER = "equal-a+pt"


def plan(session):
    session.step("accounting", 60, accounting)


def variants(session):
    """(title, arguments, steps, what of the bare run's time the kernels take)"""
    work = session.programs.work
    for us, (depth, steps) in DURATIONS.items():
        yield f"{us} us", work("--us", str(us), "--depth", str(depth), "--serve"), steps, None
    yield "1 ms, four streams", work("--us", "1000", "--depth", "8", "--streams", "4", "--serve"), 4000, None
    # Idle between its kernels: these are as long as those without pauses.
    yield "1 ms, then 1 ms of pause", work("--us", "1000", "--think-us", "1000", "--serve"), 1000, "1000 us"


def gpu_ns(session, pid):
    """The entity's GPU time once all of it has been reported: it does not change any more."""
    last = None
    for _ in range(40):
        entity = session.broker.entity(pid) or {}
        if last is not None and entity.get("GPU_NS") == last:
            break
        last = entity.get("GPU_NS")
        time.sleep(0.05)
    return last or 0


def charged_s(session, server, steps):
    before = gpu_ns(session, server.pid)
    server.ask(f"steps {steps}", 60)
    return (gpu_ns(session, server.pid) - before) / 1e9


def accounting(session):
    session.policy("weighted", True)
    rows, own, errors = [], {}, {"alone": [], "contended": []}
    plan_ = list(variants(session))
    wanted = [(f"account-{i}{suffix}", arguments, 0, bool(suffix))
              for i, (_, arguments, _, _) in enumerate(plan_) for suffix in ("", "+pt")]
    for problem in session.start_servers(wanted) + catalogue.start(session, [OTHER]):
        raise ProgramError(problem)
    for i, (title, _, steps, like) in enumerate(plan_):
        session.in_time()
        bare = session.server(f"account-{i}").ask(f"steps {steps}", 60)
        own[title] = bare["seconds"]
        truth = own[like] * steps / DURATIONS[1000][1] if like else own[title]
        server = session.server(f"account-{i}+pt")
        found = {"alone": charged_s(session, server, steps)}
        with session.running(OTHER):
            found["contended"] = charged_s(session, server, steps)
        row = [title, f"{truth:.3f}"]
        for how, charged in found.items():
            errors[how].append(abs(charged / truth - 1))
            session.record(f"accounting/{title}/{how}", charged / truth, "ratio", "the same kernels back to back, bare",
                           "tests/gpu/run --only accounting")
            row.append(show(charged / truth, "{:.3f}"))
        rows.append(row)
        session.say(" | ".join(row))
    for name in wanted:
        session.drop(name[0])
    for name, how in (("accounting/worst-error", "contended"), ("accounting/worst-error-alone", "alone")):
        session.record(name, max(errors[how]), "ratio", "of the kernels' own time", "tests/gpu/run --only accounting")
    session.table("GPU time charged, relative to what the same kernels take back to back",
                  ["kernels", "own s", "alone", "beside an equal"], rows)
