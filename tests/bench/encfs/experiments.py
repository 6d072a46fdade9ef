# SPDX-License-Identifier: MIT
"""The experiments, each in rounds, so that what is compared was measured at nearly the same time: beside hogs (the
paper's Table 3), two clients (Table 4), CPU time, and files of 8 GiB."""
import contextlib
import os
import subprocess
import sys

import hogs
import load
from measure import ratio
from mount import Mount
from programs import ProgramError

HERE = os.path.dirname(os.path.abspath(__file__))
DIRECTIONS = ("write", "read")
URGENT, ORDINARY = -20, 0
MOST_HOGS = 2
# How the GPU is shared: with which mount, and the broker's policy.
WAYS = {"stock": ("gpu-stock", None), "weighted": ("gpu-ptsched", "weighted"), "literal": ("gpu-ptsched", "literal")}
GB = 1e9


class Sizes:
    """Of each round."""

    def __init__(self, options):
        self.check = options.check
        self.size = options.size or (256 << 10 if self.check else 200 * 1000 * 1000 >> 20 << 20)
        self.large = 0 if options.quick or self.check else 8 << 30
        self.block = 64 << 10 if self.check else 1 << 20
        self.seconds = 0 if self.check else 0.6 if options.quick else 2.0
        self.rounds = options.rounds or (1 if self.check else 3 if options.quick else 7)
        self.depth = options.depth or (2 if self.check else 4)
        # As many as ptcryptfs does at a time, unless the CPUs are fewer.
        self.wide = 2 if self.check else max(2, min(8, (os.cpu_count() or 2) // 2))

    def __str__(self):
        how_long = f"for {self.seconds:g} s each, over and over" if self.seconds else "once"
        return (f"clients have {self.size >> 10} KiB, in requests of {self.block >> 10} KiB, {self.depth} at a time, "
                f"{how_long}; {self.rounds} rounds: the median, and what they were between")


class Experiments:
    def __init__(self, session, results, sizes, store):
        self.session, self.results, self.sizes, self.store = session, results, sizes, store
        kind = hogs.VirtualHogs if sizes.check else hogs.Hogs
        self.hogs = kind(session)
        self.mounts = {name: Mount(session, store, name, engine, scheduled) for name, engine, scheduled in
                       (("cpu", "cpu", False), ("gpu-stock", "gpu", False), ("gpu-ptsched", "gpu", True))}

    # ---- before and after ----

    def prepare(self, session):
        load.require_fio()
        session.start_broker()
        for mount in self.mounts.values():
            mount.begin()
        self.hogs.prepare(MOST_HOGS)
        for mount in self.mounts.values():
            mount.ready()
            # All files that will be written over and read, by as many requests at a time as there will be.
            for depth in sorted({1, self.sizes.depth, self.sizes.wide} - {1 if self.sizes.check else 0}):
                self.run(mount.folder, self.load("write", depth, 0), [("a", URGENT)])
            self.run(mount.folder, self.load("write", seconds=0), [("b", URGENT)])
        if not session.broker.entity(self.mounts["gpu-ptsched"].pid):
            raise ProgramError("ptcryptfs does not attach to the broker: its figures would be none of ptsched's")

    def end(self):
        for mount in self.mounts.values():
            mount.end()

    def plan(self, session):
        """In rounds, so that who is cut off has all of it, from fewer rounds."""
        one = self.sizes.seconds + 0.6
        session.step("bus", 2, self.bus)
        for number in range(1, self.sizes.rounds + 1):
            session.step(f"beside-hogs/{number}", 20 * one, self.beside_hogs, "beside-hogs", self.sizes.depth, WAYS)
            session.step(f"two-clients/{number}", 6 * one, self.two_clients)
            session.step(f"cpu-seconds/{number}", 6 * one, self.cpu_seconds)
            if not self.sizes.check:
                session.step(f"one-at-a-time/{number}", 12 * one, self.beside_hogs, "one-at-a-time", 1,
                             ("stock", "weighted"))
        if self.sizes.large:
            session.step("large", 80, self.large)

    # ---- one run ----

    def load(self, direction, depth=None, seconds=None, size=None):
        sizes = self.sizes
        return load.Load(direction, size or sizes.size, sizes.block, depth or sizes.depth,
                         sizes.seconds if seconds is None else seconds, sizes.check)

    def run(self, folder, work, clients):
        return load.run(self.session, folder, work, clients)

    @contextlib.contextmanager
    def shared(self, way):
        """The mount that shares the GPU so, and whether ptsched is there."""
        name, policy = WAYS[way]
        if policy:
            self.session.policy(policy, True)
        yield self.mounts[name], policy is not None

    def measured(self, name, mount, work, beside=None):
        """Of one client at nice -20: its figures are added by that name."""
        self.session.in_time()
        before = mount.cpu_seconds()
        run = self.run(mount.folder, work, [("a", URGENT)])
        own, in_kernel = (after - earlier for after, earlier in zip(mount.cpu_seconds(), before))
        used = own + in_kernel
        [client] = run.clients
        level = beside.level() if beside else None
        add = self.results.add
        add(f"{name}/speed", client.bytes_per_second / 1e6, "MB/s", level=level)
        add(f"{name}/p50", client.p50_us, "us", level=level)
        add(f"{name}/p99", client.p99_us, "us", level=level)
        add(f"{name}/cpu", used / client.bytes * GB, "s/GB", "of ptcryptfs", level)
        add(f"{name}/cpu-kernel", in_kernel / client.bytes * GB, "s/GB", "of ptcryptfs, in the kernel", level)
        add(f"{name}/cpu-both", (used + client.cpu_seconds) / client.bytes * GB, "s/GB", "of ptcryptfs and its client",
            level)
        if beside:
            add(f"{name}/hogs", beside.speed(run.begun, run.ended), "ratio", "one hog alone, bare", level)
        text = f"{name}: {client.bytes_per_second / 1e6:.0f} MB/s, p99 {client.p99_us:.0f} us"
        self.session.say(text + (f", {level}" if level else ""))
        self.results.write()
        return client._replace(cpu_seconds=used)

    # ---- Table 3 ----

    def beside_hogs(self, _session, table, depth, ways):
        """With a CPU, and with a GPU beside no hog, one and two."""
        for direction in DIRECTIONS:
            by_cpu = self.measured(f"{table}/cpu/0hogs/{direction}", self.mounts["cpu"], self.load(direction, depth))
            for way in ways:
                self.beside_each(table, way, direction, depth, by_cpu)

    def beside_each(self, table, way, direction, depth, by_cpu):
        alone = None
        against = f"the same without hogs; {depth} requests at a time"
        suffix = "" if table == "beside-hogs" else f"/{table}"
        suffix += "" if way == "weighted" else f"/{way}"
        for count in range(MOST_HOGS + 1):
            name = f"{table}/{way}/{count}hogs/{direction}"
            with self.shared(way) as (mount, scheduled), self.hogs.beside(scheduled, count) as beside:
                if count and not self.sizes.check:
                    # Levels are found out when others first use the device: not part of the figures.
                    self.run(mount.folder, self.load("read", depth, min(0.1, self.sizes.seconds)), [("a", URGENT)])
                found = self.measured(name, mount, self.load(direction, depth), beside if count else None)
                level = beside.level() if count else None
            self.results.add(f"{name}/over-cpu", found.bytes_per_second / by_cpu.bytes_per_second, "ratio",
                             "the CPU engine, alone", level)
            if not count:
                alone = found
                continue
            self.results.add(f"inversion/{count}hogs/{direction}{suffix}",
                             found.bytes_per_second / alone.bytes_per_second, "ratio", against, level)
        self.results.write()

    # ---- Table 4 ----

    def two_clients(self, session):
        """At the same time, at nice -20 and 0."""
        for direction in DIRECTIONS:
            for way in WAYS:
                session.in_time()
                with self.shared(way) as (mount, _):
                    run = self.run(mount.folder, self.load(direction), [("a", URGENT), ("b", ORDINARY)])
                urgent, ordinary = run.clients
                suffix = "" if way == "weighted" else f"/{way}"
                share = urgent.bytes_per_second / ordinary.bytes_per_second
                self.results.add(f"two-clients/{direction}{suffix}", share, "ratio", "nice -20 over nice 0")
                for label, client in (("nice-20", urgent), ("nice0", ordinary)):
                    name = f"two-clients/{direction}/{way}/{label}"
                    self.results.add(f"{name}/speed", client.bytes_per_second / 1e6, "MB/s")
                    self.results.add(f"{name}/p50", client.p50_us, "us")
                    self.results.add(f"{name}/p99", client.p99_us, "us")
                session.say(f"two-clients/{direction}, {way}: {urgent.bytes_per_second / 1e6:.0f} and "
                            f"{ordinary.bytes_per_second / 1e6:.0f} MB/s, {share:.2f}")
                self.results.write()

    # ---- what it costs ----

    def bus(self, session):
        words = [sys.executable, os.path.join(HERE, "bus.py")]
        found = subprocess.run(words, env=session.programs.environment, capture_output=True, text=True, timeout=60,
                               check=False)
        if found.returncode:
            raise ProgramError(f"bus: {found.stderr.strip().splitlines()[-1]}")
        self.results.add("bus", float(found.stdout) / 1e6, "MB/s", "one way, the slower one, pinned memory")
        self.results.write()

    def plain_store(self, direction):
        """Bytes per second without ptcryptfs, by as many threads through the cache, as ptcryptfs does it beneath."""
        folder = os.path.join(self.store, "bare")
        os.makedirs(folder, exist_ok=True)
        wide = self.sizes.wide
        work = self.load(direction, 1, size=self.sizes.size // wide)._replace(direct=False)
        run = self.run(folder, work, [(f"bare{number}", URGENT) for number in range(wide)])
        return sum(client.bytes_per_second for client in run.clients)

    def cpu_seconds(self, _session):
        """The store alone, and each engine, by as many requests at a time as there may be."""
        used = {}
        for direction in DIRECTIONS:
            work = self.load(direction, self.sizes.wide)
            bare = self.plain_store(direction)
            self.results.add(f"cpu-seconds/store/{direction}/speed", bare / 1e6, "MB/s", "without ptcryptfs")
            found = {name: self.measured(f"cpu-seconds/{name}/{direction}", self.mounts[mount], work)
                     for name, mount in (("cpu", "cpu"), ("gpu", "gpu-stock"))}
            used[direction] = {name: client.cpu_seconds / client.bytes for name, client in found.items()}
            self.results.add(f"cpu-seconds/{direction}", ratio(used[direction]["gpu"], used[direction]["cpu"]), "ratio",
                             "CPU time of ptcryptfs for a GB: GPU engine over CPU engine")
            bus = self.results.median("bus")
            most = min(bare, bus * 1e6 / 2) if bus else bare
            self.results.add(f"cpu-seconds/{direction}/of-store-and-bus", found["gpu"].bytes_per_second / most, "ratio",
                             "GPU engine over the smaller of half the bus and the store without ptcryptfs")
        both = {name: sum(used[direction][name] for direction in DIRECTIONS) for name in ("cpu", "gpu")}
        self.results.add("cpu-seconds", ratio(both["gpu"], both["cpu"]), "ratio",
                         "CPU time of ptcryptfs for a GB written and one read: GPU engine over CPU engine")
        self.results.write()

    # ---- 8 GiB ----

    def large(self, _session):
        for name, mount in (("cpu", "cpu"), ("stock", "gpu-stock"), ("weighted", "gpu-ptsched")):
            for direction in DIRECTIONS:
                self.measured(f"large/{name}/{direction}", self.mounts[mount],
                              self.load(direction, seconds=0, size=self.sizes.large))
            for path in load.files_of("a", self.load("read")):
                os.truncate(os.path.join(self.mounts[mount].folder, path), 0)
