# SPDX-License-Identifier: MIT
"""What the programs of several ranks have in common: the first one takes the orders of loop.py, starts
the others, and tells them what to do."""
import os
import subprocess
import sys

import loop


def start_other(store, rank=1):
    """The same program as another rank; @store: the file by which they find each other."""
    return subprocess.Popen([sys.executable, os.path.abspath(sys.argv[0]), "--follow", store, str(rank)])


def main(description, make_leader, follow):
    """@make_leader() makes the first rank's job, which has end(); @follow(store, rank) is another rank."""
    if len(sys.argv) == 4 and sys.argv[1] == "--follow":
        follow(sys.argv[2], int(sys.argv[3]))
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
