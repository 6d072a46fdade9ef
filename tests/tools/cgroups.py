# SPDX-License-Identifier: MIT
"""Cgroups that a test makes for itself."""
import contextlib
import os

from harness import Skip


class Cgroup:
    """A directory; @path is that below the hierarchy's root."""

    def __init__(self, point, path):
        self.path = path
        self.folder = point + path
        os.mkdir(self.folder)
        self.number = os.stat(self.folder).st_ino


def cgroup2():
    """Where it is mounted; None: nowhere."""
    with open("/proc/self/mountinfo", encoding="utf-8") as mounts:
        for line in mounts:
            root, point = line.split()[3:5]
            if root == "/" and line.split(" - ")[1].startswith("cgroup2 "):
                return point
    return None


@contextlib.contextmanager
def cgroups(*paths):
    """New ones, each with its path below one that is the test's own; where that may not be, the test is skipped."""
    point = cgroup2()
    if not point or not os.access(point, os.W_OK):
        raise Skip("no cgroup2 in which cgroups may be made")
    top = f"/ptsched-tools-{os.getpid()}"
    made = []
    try:
        for path in ("", *paths):
            made.append(Cgroup(point, top + path))
        yield made
    finally:
        for one in reversed(made):
            os.rmdir(one.folder)
