# SPDX-License-Identifier: MIT
"""The finished cells as records and tables."""
import importlib.util

import cells
from measure import show

AGAINST = "the same program alone and bare, in the same run"
# Figure: unit, and what it is relative to.
ALONE = {"per_second": "1/s", "p50_us": "us", "p99_us": "us", "missed": "ratio"}
BESIDE = {"speed": AGAINST, "p50": AGAINST, "p99": AGAINST, "missed": "of all frames",
          "hog": "one hog alone and bare, in the same run", "total": AGAINST, "share": "ratio of the weights",
          "work": "of the time: the program's work has the GPU", "turns": "of the time: the rest of its turns",
          "rest": "of the time: neither these nor the hog's work"}
HEADER = ["program", "beside", "scheduler", "speed", "p50", "p99", "missed", "hog's speed", "level"]


def publish(session, store):
    """Replaces the session's records and tables by what is there now."""
    found = [(cell, store.get(cell.name)) for cell in cells.every()]
    done = [(cell, figures) for cell, figures in found if figures]
    session.records.clear()
    session.tables.clear()
    for cell, figures in done:
        record(session, cell, figures)
    for title, header, chosen in sections(done):
        if chosen:
            session.table(title, header, [row(cell, figures) for cell, figures in chosen])
    shares(session, done)
    if rows := spent_rows(done):
        session.table("Beside hogs: where the time goes", ["cell", "the program's work", "the rest of its turns",
                      "between turns, put-backs and switches", "the hogs' work"], rows)
    if rows := spread_rows(done):
        session.table("Medians of rounds: what their ratios were", ["cell", "rounds", "speed", "p50", "p99", "hog's speed"],
                      rows)
    missing = [cell.name for cell, figures in found if not figures]
    session.table("Remarks", ["remark"], [[line] for line in remarks(store, done, missing)])


def record(session, cell, figures):
    command = f"tests/bench/run --only {cell.name}"
    for key, what in (BESIDE if cell.hog else ALONE).items():
        if key in figures:
            unit, against = ("ratio", what) if cell.hog else (what, "")
            session.record(f"bench/{cell.name}/{key}", figures[key], unit, against, command, figures["level"])
        low, high = figures.get("spread", {}).get(key, (None, None))
        if low is not None:
            session.record(f"bench/{cell.name}/{key}/spread", high - low, "ratio",
                           f"{figures['rounds']} rounds: largest less smallest", command, figures["level"])


def spread_rows(done):
    """Cells of several rounds: between what their ratios were."""
    def between(figures, key):
        low, high = figures["spread"].get(key, (None, None))
        return f"{show(low)} to {show(high)}"

    return [[cell.name, str(figures["rounds"]), *(between(figures, key) for key in ("speed", "p50", "p99", "hog"))]
            for cell, figures in done if figures.get("spread")]


def spent_rows(done):
    """Of the cells where the program comes and goes: elsewhere the hog is to have nothing."""
    return [[cell.name, *(show(figures[key], "{:.3f}") for key in ("work", "turns", "rest", "hog"))]
            for cell, figures in done if cell.workload in ("frames", "requests") and "work" in figures]


def doubtful(scheduler, level):
    """Got at a lower level than is to be shown."""
    return scheduler == "ptsched" and level != "preempt" or "not confirmed" in level


def row(cell, figures):
    """A cell as text."""
    missed = show(figures.get("missed"), "{:.3f}")
    if not cell.hog:
        return [cells.WORKLOADS[cell.workload][1], f"{figures['per_second']:.1f}", f"{figures['p50_us']:.0f}",
                f"{figures['p99_us']:.0f}", missed]
    mark = " (!)" if doubtful(cell.scheduler, figures["level"]) else ""
    return [cells.WORKLOADS[cell.workload][1], cells.HOGS[cell.hog][1], cells.SCHEDULERS[cell.scheduler][2],
            show(figures["speed"], "{:.3f}"), show(figures["p50"]), show(figures["p99"]), missed,
            show(figures["hog"], "{:.3f}"), figures["level"] + mark]


def sections(done):
    """(title, header, cells in the order of the table)"""
    order = {name: number for number, name in enumerate(cells.SCHEDULERS)}

    def chosen(condition, key=lambda cell: 0):
        found = [pair for pair in done if condition(pair[0])]
        return sorted(found, key=lambda pair: (key(pair[0]), order[pair[0].scheduler]))

    yield ("Alone and bare", ["program", "per second", "p50 us", "p99 us", "missed"], chosen(lambda cell: not cell.hog))
    yield ("Nice -20 beside one hog at nice 19, relative to alone", HEADER,
           chosen(lambda cell: cell.hog == "hog52", lambda cell: cells.MAIN.index(cell.workload)))
    hogs = list(cells.HOGS)
    yield ("Nice -20 beside other hogs at nice 19, relative to alone", HEADER,
           chosen(lambda cell: cell.hog not in (None, "hog52", "nice5"),
                  lambda cell: (cells.MAIN.index(cell.workload), hogs.index(cell.hog))))
    yield ("Two equal programs at nice 0 and 5, relative to one alone", HEADER,
           chosen(lambda cell: cell.hog == "nice5"))


def shares(session, done):
    rows = [[f"{figures['share']:.3f}", f"{figures['total']:.3f}", figures["level"]]
            for _, figures in done if figures.get("share") is not None]
    if rows:
        session.table("What these two get", ["ratio of their speeds over that of the weights", "both over one alone",
                                             "level"], rows)


def remarks(store, done, missing):
    yield ("Speed and hog's speed are best at 1 and more, latencies at 1 and less. Latencies of frames and requests "
           "count from the instant when they are due; missed: share of the frames not done when the next was due. "
           "Several hogs: their sum over one alone.")
    if any(doubtful(cell.scheduler, figures["level"]) for cell, figures in done):
        yield "(!): got at a lower level than preempt, or without MPS for certain; such a figure does not count."
    older = sorted({f"{figures['taken'][:10]}, commit {figures['depends']['commit']}" for _, figures in done})
    if older:
        yield f"Cells: {len(done)}; {store.now['gpu']}, driver {store.now['driver']}, taken: {'; '.join(older)}"
    if missing:
        yield f"Not measured: {', '.join(missing)}"
    if importlib.util.find_spec("matplotlib"):
        yield "As bars: bench.svg, bench.png"
    else:
        yield "No plot: python3-matplotlib is missing"
