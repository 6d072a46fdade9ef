# SPDX-License-Identifier: MIT
"""What the programs of two ranks have in common: the first one takes the orders of loop.py, starts
the other, and tells it what to do."""
import os
import subprocess
import sys

import loop


def start_other(store):
    """The same program as the other rank; @store: the file by which the two find each other."""
    return subprocess.Popen([sys.executable, os.path.abspath(sys.argv[0]), "--follow", store])


def main(description, make_leader, follow):
    """@make_leader() makes the first rank's job, which has end(); @follow(store) is the other rank."""
    if len(sys.argv) == 3 and sys.argv[1] == "--follow":
        follow(sys.argv[2])
        return
    leaders = []

    def make():
        leaders.append(make_leader())
        return leaders[0]
    try:
        loop.main(description, make)
    finally:
        for leader in leaders:
            leader.end()
