# SPDX-License-Identifier: MIT
"""Programs whose kernels of 19 ms follow one another at nice 19: tests/gpu/work.cu, and on the virtual GPU a client
that does the same."""
import contextlib
import json
import os
import signal

import catalogue
import preempt
from measure import rates
from programs import ProgramError, close_quietly, stop, wait_until

NICE, MS = 19, 19
START_S = 60


class Hogs:
    """On a real GPU. They are started once, and do nothing until they are wanted."""

    def __init__(self, session):
        self.session = session
        self.one_alone = None  # kernels per second of one of them, without ptsched

    @staticmethod
    def names(scheduled, count):
        return [f"hog{MS}-{number}" + (preempt.PTSCHED if scheduled else preempt.STOCK) for number in range(count)]

    def prepare(self, most):
        catalogue.calibrate(self.session)
        catalogue.need(self.session, self.names(False, most) + self.names(True, most))
        with self.beside(False, 1) as those:
            self.one_alone = rates(those.servers, 1.0, 0.3)[0]

    @contextlib.contextmanager
    def beside(self, scheduled, count):
        names = self.names(scheduled, count)
        catalogue.need(self.session, names)
        with preempt.all_running(self.session, names) as servers:
            yield Running(self, names, servers)


class Running:
    def __init__(self, hogs, names, servers):
        self.hogs, self.names, self.servers = hogs, names, servers

    def level(self):
        return preempt.level(self.hogs.session, *self.names)

    def speed(self, begun, ended):
        """All of them between two instants, relative to one that is alone."""
        done = sum(server.count_at(ended) - server.count_at(begun) for server in self.servers)
        return done / (ended - begun) / self.hogs.one_alone


def catches(pid, number):
    """Whether a process has got so far that it ends in order by that signal."""
    with open(f"/proc/{pid}/status", encoding="ascii", errors="replace") as status:
        caught = next(line for line in status if line.startswith("SigCgt:"))
    return bool(int(caught.split()[1], 16) >> (number - 1) & 1)


class VirtualHogs:
    """On the virtual GPU: that they have run is all that is known of them."""

    def __init__(self, session):
        self.session = session

    def prepare(self, most):
        pass

    def start(self, scheduled):
        programs = self.session.programs
        words = [os.path.join(programs.build, "vgpu/inversion-client"), "--module",
                 os.path.join(programs.build, "vgpu/kernels.so"), "--kernel-us", str(MS * 1000), "--depth", "2",
                 "--seconds", "600", "--json"]
        return programs.start(words, NICE, scheduled)

    @contextlib.contextmanager
    def beside(self, scheduled, count):
        processes = [self.start(scheduled) for _ in range(count)]
        try:
            for process in processes:
                wait_until(lambda pid=process.pid: catches(pid, signal.SIGTERM), "a hog has not begun", START_S,
                           process)
            yield VirtualRunning(self.session, processes, scheduled)
            for process in processes:
                process.terminate()
                status, output, errors = self.session.programs.finish(process, 30)
                if status or json.loads(output)["errors"]:
                    raise ProgramError(f"{process.words}: status {status}: {errors.strip()} {output.strip()}")
        finally:
            for process in processes:
                stop(process)
                close_quietly(process.stdout)


class VirtualRunning:
    def __init__(self, session, processes, scheduled):
        self.session, self.processes, self.scheduled = session, processes, scheduled

    def level(self):
        """When the broker knows them all."""
        if not self.scheduled:
            return "stock"
        found = []

        def all_known():
            found[:] = [self.session.broker.entity(process.pid) for process in self.processes]
            return all(found)
        wait_until(all_known, "the broker does not know all hogs", START_S)
        return preempt.LEVELS[min(entity["MECHANISM"] for entity in found)]

    @staticmethod
    def speed(*_):
        return None
