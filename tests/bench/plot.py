# SPDX-License-Identifier: MIT
"""The finished cells as bars, for people."""
import os

import cells

COLOURS = {"stock": "#8c8c8c", "mps": "#76b900", "mps10": "#b7d98b", "ptsched": "#1f5fa8"}
PANELS = (("speed", "speed relative to alone", False), ("p99", "p99 latency relative to alone", True))


def draw(store, folder):
    """Returns what was written, or why nothing was."""
    found = {cell: store.get(cell.name) for cell in cells.every() if cell.hog and cell.hog != "nice5"}
    found = {cell: figures for cell, figures in found.items() if figures}
    if not found:
        return "no plot: no cell beside a hog is there"
    try:
        import matplotlib
    except ImportError:
        return "no plot: python3-matplotlib is missing"
    matplotlib.use("Agg")
    from matplotlib import patches, pyplot
    figure, axes = pyplot.subplots(2, 2, figsize=(14, 9))
    beside = {(cell.workload, cell.scheduler): figures for cell, figures in found.items() if cell.hog == "hog52"}
    others = {(cell.hog, cell.scheduler): figures for cell, figures in found.items() if cell.workload == "loop60"}
    for column, (key, label, logarithmic) in enumerate(PANELS):
        bars(axes[0][column], beside, key, label, logarithmic)
        bars(axes[1][column], others, key, label, logarithmic)
        axes[0][column].set_title("beside one hog of 52 ms kernels")
        axes[1][column].set_title("60 us kernels beside other hogs")
    axes[0][0].legend(handles=[patches.Patch(color=COLOURS[name], label=title)
                               for name, (_, _, title) in cells.SCHEDULERS.items()])
    figure.suptitle(f"Important programs at nice -20 beside hogs at 19; {store.now['gpu']}, driver {store.now['driver']}")
    figure.tight_layout()
    written = [os.path.join(folder, name) for name in ("bench.svg", "bench.png")]
    for path in written:
        figure.savefig(path, dpi=110)
    pyplot.close(figure)
    return f"written: {', '.join(written)}"


def bars(axes, found, key, label, logarithmic):
    """A group for each first half of the names in @found, and a bar for each scheduler; hatched: not at preempt."""
    groups = list(dict.fromkeys(group for group, _ in found))
    schedulers = [name for name in cells.SCHEDULERS if any(scheduler == name for _, scheduler in found)]
    width = 0.8 / max(len(schedulers), 1)
    for number, scheduler in enumerate(schedulers):
        for place, group in enumerate(groups):
            figures = found.get((group, scheduler))
            if not figures or figures.get(key) is None:
                continue
            low = scheduler == "ptsched" and figures["level"] != "preempt"
            axes.bar(place - 0.4 + (number + 0.5) * width, figures[key], width, color=COLOURS[scheduler],
                     hatch="//" if low else None)
    axes.axhline(1, color="black", linewidth=0.8)
    axes.set_xticks(range(len(groups)), groups, rotation=20, ha="right")
    axes.set_ylabel(label)
    if logarithmic:
        axes.set_yscale("log")
