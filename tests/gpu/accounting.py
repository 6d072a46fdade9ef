# SPDX-License-Identifier: MIT
"""GPU time charged to programs against what the device's own clock says of their kernels
(clocked.cu), alone (where it is sampled) and beside an equal (where it is measured)."""
import time

import catalogue
from measure import show

# What a kernel is like: the program's options, and so many kernels that they take about a second.
KERNELS = {
    "20 us": (("--us", "20", "--depth", "32"), 50000),
    "100 us": (("--us", "100", "--depth", "16"), 10000),
    "1 ms": (("--us", "1000", "--depth", "4"), 1000),
    "10 ms": (("--us", "10000",), 100),
    "200 ms": (("--us", "200000",), 5),
    "1 ms, four streams": (("--us", "1000", "--depth", "8", "--streams", "4"), 3000),
    "1 ms, then 1 ms of pause": (("--us", "1000", "--think-us", "1000"), 1000),
}
OTHER = "equal-a+pt"
COMMAND = "tests/gpu/run --only accounting"


def plan(session):
    found = {}
    for title in KERNELS:
        session.step(f"accounting/{title}", 7, accounting, title, found)
    session.step("accounting/table", 0, table, found)


def gpu_ns(session, pid):
    """The entity's GPU time once all of it has been reported: it does not change any more."""
    last = None
    for _ in range(20):
        entity = session.broker.entity(pid) or {}
        if last is not None and entity.get("GPU_NS") == last:
            break
        last = entity.get("GPU_NS")
        # The interposer reports ten times a second, and once more at the end.
        time.sleep(0.25)
    return last or 0


def charged(session, server, steps):
    """What was charged for so many kernels, and how long they ran, in seconds."""
    before = gpu_ns(session, server.pid)
    result = server.ask(f"steps {steps}", 60)
    return (gpu_ns(session, server.pid) - before) / 1e9, result["busy_s"], result["halts"]


def accounting(session, title, found):
    """@found gets how long the kernels ran and what share of that was charged, alone and beside an equal."""
    session.policy("weighted", True)
    options, steps = KERNELS[title]
    name = f"account-{list(KERNELS).index(title)}+pt"
    wanted = [(name, [session.programs.built("clocked"), *options, "--serve"], 0, True)]
    session.need_servers(wanted)
    catalogue.need(session, [OTHER])
    server = session.server(name)
    results = {"alone": charged(session, server, steps)}
    with session.running(OTHER):
        results["contended"] = charged(session, server, steps)
    found[title] = {how: (busy_s, charged_s / busy_s) for how, (charged_s, busy_s, _) in results.items()}
    for how, (busy_s, share) in found[title].items():
        session.record(f"accounting/{title}/{how}", share, "ratio", "the device's clock, in the same run", COMMAND)
        session.say(f"{title}, {how}: {share:.4f} of {busy_s:.3f} s charged, {results[how][2]} halts")
    session.drop(name)


def table(session, found):
    if not found:
        return
    rows = []
    for title, results in found.items():
        rows.append([title] + [text for busy_s, share in results.values()
                               for text in (f"{busy_s:.3f}", show(share, "{:.4f}"))])
    for name, how in (("accounting/worst-error", "contended"), ("accounting/worst-error-alone", "alone")):
        worst = max(abs(results[how][1] - 1) for results in found.values())
        session.record(name, worst, "ratio", "of the kernels' own time", COMMAND)
    session.table("GPU time charged, relative to the time in which the program's kernels ran by the device's clock",
                  ["kernels", "alone, s", "charged", "beside an equal, s", "charged"], rows)
