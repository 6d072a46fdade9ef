# SPDX-License-Identifier: MIT
"""The finished cells as bars, for people."""
import os

import cells
import report

COLOURS = {"stock": "#8c8c8c", "mps": "#76b900", "mps10": "#b7d98b", "ptsched": "#1f5fa8"}
PANELS = (("speed", "speed relative to alone", False), ("p99", "p99 latency relative to alone", True))


def draw(store, folder):
    """Returns what was written, or why nothing was."""
    found = {cell: store.get(cell.name) for cell in cells.every() if cell.hog and cell.hog != "nice5"}
    found = {cell: figures for cell, figures in found.items() if figures}
    if not found:
        return "no plot: no cell beside a hog is there"
    # pylint: disable=import-outside-toplevel
    try:
        import matplotlib
    except ImportError:
        return "no plot: python3-matplotlib is missing"
    matplotlib.use("Agg")
    from matplotlib import patches, pyplot, ticker
    figure, axes = pyplot.subplots(2, 2, figsize=(14, 9))
    beside = {(cell.workload, cell.scheduler): figures for cell, figures in found.items() if cell.hog == "hog52"}
    others = {(cell.hog, cell.scheduler): figures for cell, figures in found.items()
              if cell.workload == "loop60" and not cell.with_mps}
    for column, (key, label, logarithmic) in enumerate(PANELS):
        for line, (title, those) in enumerate((("beside one hog of 52 ms kernels", beside),
                                               ("60 us kernels beside other hogs", others))):
            bars(axes[line][column], those, key)
            axes[line][column].set(title=title, ylabel=label)
            if logarithmic:
                axes[line][column].set_yscale("log")
                axes[line][column].yaxis.set_major_formatter(ticker.FormatStrFormatter("%g"))
                axes[line][column].yaxis.set_minor_formatter(ticker.NullFormatter())
    figure.legend(handles=[patches.Patch(color=COLOURS[name], label=title)
                           for name, (_, _, title) in cells.SCHEDULERS.items()], loc="lower center", ncol=4)
    figure.suptitle("Important programs at nice -20 beside hogs at 19; "
                    f"{store.now['gpu']}, driver {store.now['driver']}")
    figure.tight_layout(rect=(0, 0.04, 1, 1))
    written = [os.path.join(folder, name) for name in ("bench.svg", "bench.png")]
    for path in written:
        figure.savefig(path, dpi=110)
    pyplot.close(figure)
    return f"written: {', '.join(written)}"


def bars(axes, found, key):
    """A group for each first half of the names in @found, and a bar for each scheduler; hatched: does not count."""
    groups = list(dict.fromkeys(group for group, _ in found))
    schedulers = [name for name in cells.SCHEDULERS if any(scheduler == name for _, scheduler in found)]
    width = 0.8 / max(len(schedulers), 1)
    for (group, scheduler), figures in found.items():
        if figures.get(key) is None:
            continue
        place = groups.index(group) - 0.4 + (schedulers.index(scheduler) + 0.5) * width
        hatch = "//" if report.doubtful(scheduler, figures["level"]) else None
        axes.bar(place, figures[key], width, color=COLOURS[scheduler], hatch=hatch)
    axes.axhline(1, color="black", linewidth=0.8)
    axes.set_xticks(range(len(groups)), groups, rotation=20, ha="right")
