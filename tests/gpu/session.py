# SPDX-License-Identifier: MIT
"""A run: its steps, checks, records, broker and end."""
import contextlib
import fnmatch
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import traceback

from broker import Broker, BrokerError
from programs import TOP, ProgramError, Programs, Server, stderr_of, wait_until


class OutOfTime(Exception):
    pass


EXPECTED = (ProgramError, BrokerError, OutOfTime, OSError, subprocess.SubprocessError)


class Session:
    def __init__(self, options):
        self.options = options
        self.started = time.monotonic()
        self.folder = tempfile.mkdtemp(prefix="ptsched-gpu-")
        self.programs = Programs(options.build, self.folder)
        self.servers = {}
        self.records = []
        self.tables = []  # (title, header, rows)
        self.about = []  # what the results depend on
        self.passed = self.failed = 0
        self.daemon = None
        self.broker = None
        self.broker_options = []
        self.plan = []

    # ---- steps ----

    def step(self, name, seconds, function, *arguments):
        """Plans a step; it is left out if --only names others."""
        only = self.options.only
        if not only or any(fnmatch.fnmatch(name, pattern) or name.startswith(pattern) for pattern in only):
            self.plan.append((name, seconds, function, arguments))

    def run(self, build_all, prepare):
        """The steps; nothing, if what they all need cannot be had."""
        total = sum(seconds for _, seconds, _, _ in self.plan)
        print(f"plan, about {total + 50:.0f} s: build 40, prepare 10, "
              + ", ".join(f"{name} {seconds:.0f}" for name, seconds, _, _ in self.plan))
        self.about = [machine(), f"scheduled programs are started by {self.programs.how_scheduled()}".replace(TOP + "/", ""),
                      *self.about]
        print("\n".join(self.about), flush=True)
        if self.attempt("build", build_all) and self.attempt("prepare", prepare):
            for name, _, function, arguments in self.plan:
                self.attempt(name, function, *arguments)

    def attempt(self, name, function, *arguments):
        self.say(f"-- {name}")
        try:
            self.in_time()
            function(self, *arguments)
            return True
        except EXPECTED as error:
            return self.check(name, False, f"{type(error).__name__}: {error}")
        except Exception:  # pylint: disable=broad-except
            # A mistake in one step must not lose what the others measure.
            return self.check(name, False, traceback.format_exc())

    def attempt_to_finish(self, finish):
        """What else goes wrong must not keep programs from being ended."""
        try:
            finish(self)
        except Exception:  # pylint: disable=broad-except
            self.check("finish", False, traceback.format_exc())

    def in_time(self):
        elapsed = time.monotonic() - self.started
        if elapsed > self.options.limit:
            raise OutOfTime(f"not run: {elapsed:.0f} s are gone, more than --limit {self.options.limit}")

    def say(self, text):
        print(f"[{time.monotonic() - self.started:5.0f} s] {text}", flush=True)

    def check(self, name, good, detail=""):
        if good:
            self.passed += 1
        else:
            self.failed += 1
        detail = f": {detail}" if detail and not good else ""
        self.say(f"{'ok' if good else 'FAILED'} {name}{detail}")
        return good

    # ---- results ----

    def record(self, name, value, unit, against, command, level=None):
        """One figure; @against says what it is relative to, @level by what means it was obtained."""
        self.records.append({"name": name, "value": value, "unit": unit, "against": against,
                             "command": command.replace(TOP + "/", ""), **({"level": level} if level else {})})

    def table(self, title, header, rows):
        self.tables.append((title, header, rows))

    def write_results(self):
        os.makedirs(self.options.out, exist_ok=True)
        with open(os.path.join(self.options.out, "results.json"), "w", encoding="utf-8") as file:
            json.dump(self.records, file, indent=1)
            file.write("\n")
        text = self.markdown()
        with open(os.path.join(self.options.out, "results.md"), "w", encoding="utf-8") as file:
            file.write(text)
        with open(os.path.join(self.options.out, "programs.log"), "w", encoding="utf-8") as file:
            for process in self.programs.started:
                file.write(f"$ {process.words}\nstatus {process.returncode}\n{stderr_of(process)}\n")
        print(text)
        print(f"written: {self.options.out}/results.json, results.md, programs.log")

    def markdown(self):
        parts = ["\n".join(f"* {line}" for line in self.about)]
        for title, header, rows in self.tables:
            lines = [header, ["---"] * len(header), *rows]
            parts.append(f"## {title}\n\n" + "\n".join("| " + " | ".join(map(str, line)) + " |" for line in lines))
        return "\n\n".join(parts) + "\n"

    # ---- the broker ----

    def start_broker(self):
        if self.broker:
            return self.broker
        path = self.programs.socket
        self.daemon = self.programs.start([self.programs.daemon, "--socket", path, *self.broker_options],
                                          stdout=subprocess.DEVNULL)
        wait_until(lambda: listens(path), f"ptschedd does not listen at {path}", 15, self.daemon)
        self.broker = Broker(path, TOP)
        return self.broker

    def policy(self, policy="weighted", idle_sharing=True):
        self.start_broker().set_policy(policy, idle_sharing)

    # ---- programs that take orders ----

    def start_servers(self, wanted):
        """@wanted: (name, arguments, nice, scheduled[, environment]). Their start-ups overlap. Returns what went wrong."""
        for name, arguments, nice, scheduled, *extra in wanted:
            if scheduled:
                self.start_broker()
            server = self.servers.get(name)
            if not server or server.ended:
                self.servers[name] = Server(self.programs, name, arguments, nice, scheduled, *extra)
        bad = []
        for name, *_ in wanted:
            try:
                self.servers[name].ready()
            except ProgramError as error:
                bad.append(str(error))
                self.drop(name)
        return bad

    def need_servers(self, wanted):
        """The same for a step that needs all of them: the first that goes wrong is raised."""
        for problem in self.start_servers(wanted):
            raise ProgramError(problem)

    def server(self, name):
        if name not in self.servers:
            raise ProgramError(f"{name} does not run")
        return self.servers[name]

    def drop(self, name):
        """A program that does not do as told is ended."""
        server = self.servers.pop(name, None)
        if server:
            server.stop()

    @contextlib.contextmanager
    def running(self, name):
        """A hog at work while the body runs; None: no hog."""
        if name is None:
            yield None
            return
        hog = self.server(name)
        try:
            hog.begin()
            yield hog
            hog.end()
        except BaseException:
            self.say_who_is_there(name)
            self.drop(name)
            raise

    def say_who_is_there(self, name):
        """What the broker knows of all programs as @name did not do as told."""
        pids = {server.pid: known for known, server in self.servers.items()}
        try:
            for entity in self.broker.entities() if self.broker else []:
                self.say(f"{name} failed beside {pids.get(entity['PID'], 'another')}: {entity}")
        except EXPECTED as error:
            self.say(f"{name} failed, and the broker does not answer: {error}")

    def close(self):
        for name in list(self.servers):
            self.drop(name)
        if self.broker:
            self.broker.close()
        if self.daemon and self.daemon.poll() is None:
            self.daemon.terminate()
        self.programs.stop_all()
        self.check("no process left", not self.programs.left(), "; ".join(self.programs.left()))
        self.write_results()
        shutil.rmtree(self.folder, ignore_errors=True)


def make(options, *targets):
    return subprocess.run(["make", "-s", "-C", TOP, f"-j{os.cpu_count()}", f"B={options.build}", *targets],
                          stdout=sys.stderr, check=False, timeout=300)


def query_gpus(fields):
    """A line for each GPU."""
    query = ["nvidia-smi", f"--query-gpu={fields}", "--format=csv,noheader"]
    return subprocess.run(query, capture_output=True, text=True, timeout=30, check=True).stdout.splitlines()


def machine():
    """The GPU and its driver, in words."""
    try:
        gpus = "; ".join(query_gpus("name,driver_version"))
    except EXPECTED as error:
        return f"GPU: unknown ({error})"
    return f"{time.strftime('%Y-%m-%d')}; GPU, driver: {gpus}; {os.cpu_count()} CPUs, Linux {os.uname().release}"


def build(session):
    """Builds everything except what the environment names."""
    targets = ["gpu-programs"]
    if not os.environ.get("PTSCHED_PRELOAD"):
        targets.append(f"{session.options.build}/lib/libptsched-preload.so")
    if not os.environ.get("PTSCHEDD"):
        targets.append(f"{session.options.build}/bin/ptschedd")
    if make(session.options, *targets).returncode:
        raise ProgramError(f"make {' '.join(targets)} failed")


def listens(path):
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as probe:
        try:
            probe.connect(path)
        except OSError:
            return False
    return True


def interrupted(number, _frame):
    raise KeyboardInterrupt(signal.Signals(number).name)


def main(options, plan, prepare, build_all=build, finish=lambda session: None):
    """Plans by plan(session), runs that and returns the exit status. @finish is called whatever has happened."""
    signal.signal(signal.SIGTERM, interrupted)
    if os.geteuid():
        print("needs root: the programs run at nice -20", file=sys.stderr)
        return 2
    session = Session(options)
    try:
        plan(session)
        try:
            session.run(build_all, prepare)
        except KeyboardInterrupt as reason:
            session.check("complete", False, f"interrupted {reason}")
    finally:
        session.attempt_to_finish(finish)
        session.close()
        print(f"{session.passed} passed, {session.failed} failed", flush=True)
    return 1 if session.failed else 0
