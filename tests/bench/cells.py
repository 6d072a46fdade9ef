# SPDX-License-Identifier: MIT
"""What is measured: an important program, alone or beside hogs, under a scheduler. Each such
combination is a cell, WORKLOAD/HOGS/SCHEDULER."""
from typing import NamedTuple

# Name: the program of tests/gpu/catalogue.py, what it does, for how many windows it is measured in a round, and in how
# many rounds: a program that is bound by the CPU is compared with itself a second ago, since CPUs change their speed.
WORKLOADS = {
    "loop60": ("hi60", "60 us kernels, one after another", 1, 1),
    "loop1ms": ("hi1ms", "1 ms kernels, one after another", 1, 1),
    "frames": ("frames", "frames of 5 ms, 30 per second", 1, 5),
    "requests": ("requests", "requests of 2 ms, Poisson, 100 per second", 1, 5),
    "infer": ("infer", "PyTorch inference", 1 / 3, 9),
    "equal": ("equal-a", "1 ms kernels, two in flight, nice 0", 2, 1),
}
HOGS = {
    "hog52": (("hog52-0",), "52 ms kernels"),
    "wide52": (("wide52",), "52 ms kernels that fill the device 52 times"),
    "hog19": (("hog19",), "19 ms kernels"),
    "queue": (("queue",), "64 kernels of 1 ms in flight"),
    "train": (("train",), "PyTorch training"),
    "graphs": (("graphs",), "CUDA graphs of 20 kernels of 1 ms"),
    "persistent": (("persistent",), "a kernel that never ends"),
    "2xhog52": (("hog52-0", "hog52-1"), "two of 52 ms kernels"),
    "4xhog52": (("hog52-0", "hog52-1", "hog52-2", "hog52-3"), "four of 52 ms kernels"),
    "nice5": (("equal-b",), "the same at nice 5"),
    "hog52-busy": (("hog52-0",), "52 ms kernels, two endless loops on every CPU"),
}
# Name: what is added to the workload's and to the hog's program, and the title.
SCHEDULERS = {
    "stock": ("", "", "stock"),
    "mps": ("+mps", "+mps", "MPS"),
    "mps10": ("+mps", "+mps10", "MPS, hog at 10 %"),
    "ptsched": ("+pt", "+pt", "ptsched"),
}
MAIN = ("loop60", "loop1ms", "frames", "requests", "infer")
OTHERS = ("wide52", "hog19", "queue", "train", "graphs", "persistent")


class Cell(NamedTuple):
    workload: str
    hog: str = None
    scheduler: str = "stock"

    @property
    def name(self):
        return f"{self.workload}/{self.hog}/{self.scheduler}" if self.hog else f"{self.workload}/alone"

    @property
    def bare_program(self):
        return WORKLOADS[self.workload][0]

    @property
    def bare_hogs(self):
        return HOGS[self.hog][0] if self.hog else ()

    @property
    def program(self):
        return self.bare_program + SCHEDULERS[self.scheduler][0]

    @property
    def hogs(self):
        return [name + SCHEDULERS[self.scheduler][1] for name in self.bare_hogs]

    @property
    def windows(self):
        return WORKLOADS[self.workload][2]

    @property
    def rounds(self):
        return WORKLOADS[self.workload][3] if self.hog else 1

    @property
    def with_mps(self):
        return self.scheduler.startswith("mps")

    @property
    def busy(self):
        return self.hog == "hog52-busy"

    @property
    def hog_nice(self):
        """What the hogs are reniced to; None: they stay as they are."""
        return 5 if self.hog == "nice5" else None


def every():
    """All cells. Those that need the MPS daemon come last, together."""
    found = [Cell(workload) for workload in MAIN]
    found += [Cell(workload, "hog52", how) for workload in MAIN for how in ("stock", "ptsched")]
    found += [Cell("loop60", hog, how) for hog in OTHERS for how in ("stock", "ptsched")]
    found += [Cell("infer", "train", how) for how in ("stock", "ptsched")]
    found += [Cell("loop60", hog, "ptsched") for hog in ("2xhog52", "4xhog52")]
    found += [Cell("equal", "nice5", "ptsched")]
    found += [Cell("loop60", "hog52-busy", how) for how in ("stock", "ptsched")]
    found += [Cell(workload, "hog52", "mps") for workload in MAIN]
    found += [Cell(workload, "hog52", "mps10") for workload in ("loop60", "infer")]
    found += [Cell("loop60", "wide52", "mps")]
    return found
