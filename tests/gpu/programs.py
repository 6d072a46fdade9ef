# SPDX-License-Identifier: MIT
"""The CUDA programs, how they are started with and without ptsched, and how they are
talked to (serve.hpp and loop.py are the other side)."""
import glob
import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.dirname(os.path.dirname(HERE))
LOADER = "/lib64/ld-linux-x86-64.so.2"


class ProgramError(Exception):
    pass


def wait_until(condition, what, seconds, process=None):
    """Looks again and again, as long as @process runs, if there is one. @what: of what is not so in time."""
    def said():
        return f": {stderr_of(process).strip()}" if process else ""
    deadline = time.monotonic() + seconds
    while not condition():
        if process and process.poll() is not None:
            raise ProgramError(f"{what}: its program ended with status {process.returncode}{said()}")
        if time.monotonic() > deadline:
            raise ProgramError(f"{what} within {seconds} s{said()}")
        time.sleep(0.02)


def python(script, *arguments):
    return [sys.executable, os.path.join(HERE, script), *arguments]


class Programs:
    """Every process of a run, so that none outlives it."""

    def __init__(self, build, log_folder):
        self.build = os.path.join(TOP, build)
        self.logs = log_folder
        self.rate = None  # steps of work.cu per microsecond, once measured
        self.mps = None  # the variables by which programs find the MPS daemon, while it runs
        self.started = []
        self.number = 0
        self.preload = self.given_or_built("PTSCHED_PRELOAD", "lib/libptsched-preload.so")
        self.daemon = self.given_or_built("PTSCHEDD", "bin/ptschedd")
        self.no_tool = ""
        self.tool = self.find_tool()
        self.socket = os.path.join(log_folder, "broker.sock")
        self.environment = dict(
            os.environ, PYTHONUNBUFFERED="1", XLA_PYTHON_CLIENT_PREALLOCATE="false",
            PTSCHED_SOCKET=self.socket,
            # The broker is what is tested here, also where the module is loaded.
            PTSCHED_DEVICE_NODE=os.path.join(log_folder, "no-module"))
        for name in ("PTSCHED_PRELOAD", "PTSCHED_STATS", "PTSCHED_LOG", "PTSCHED_DISABLE",
                     "CUDA_MPS_PIPE_DIRECTORY", "CUDA_MPS_LOG_DIRECTORY", "CUDA_MPS_ACTIVE_THREAD_PERCENTAGE"):
            self.environment.pop(name, None)

    def given_or_built(self, variable, built):
        return os.path.abspath(os.environ.get(variable) or os.path.join(self.build, built))

    def find_tool(self):
        """The command line tool, with the libraries beside it if it was carried here."""
        tool = self.given_or_built("PTSCHED", "bin/ptsched")
        folder = os.path.dirname(tool)
        words = [tool]
        if glob.glob(os.path.join(folder, "*.so*")):
            words = [LOADER, "--library-path", folder, tool]
        try:
            subprocess.run([*words, "--version"], capture_output=True, text=True, timeout=20, check=True)
        except subprocess.CalledProcessError as error:
            self.no_tool = f"{tool} does not run: {error.stderr.strip()}"
        except (OSError, subprocess.SubprocessError) as error:
            self.no_tool = str(error)
        else:
            return words
        return None

    def how_scheduled(self):
        if self.tool:
            return f"{' '.join(self.tool)} run"
        return f"LD_PRELOAD={self.preload} and nice by hand; no tool: {self.no_tool}"

    def work(self, *options):
        # Steps of kernels that fill the device take longer: such a program measures its own.
        rate = ["--rate", f"{self.rate:.6f}"] if self.rate and "--waves" not in options else []
        return [self.built("work"), *options, *rate]

    def built(self, name):
        return os.path.join(self.build, "gpu", name)

    def mps_variables(self, how):
        """@how: "mps", or "mps" and the percentage of threads that the program may use."""
        if self.mps is None:
            raise ProgramError("no MPS daemon runs")
        percentage = how[len("mps"):]
        return {**self.mps, **({"CUDA_MPS_ACTIVE_THREAD_PERCENTAGE": percentage} if percentage else {})}

    def command(self, arguments, nice, scheduled):
        """The words that start a program, and what the environment needs for it."""
        # A program must not outlive a runner that was killed.
        guard = ["setpriv", "--pdeathsig", "TERM"] if shutil.which("setpriv") else []
        if not scheduled:
            return guard + ["nice", "-n", str(nice), *arguments], {}
        if self.tool:
            return guard + [*self.tool, "run", "--nice", str(nice), "--", *arguments], {
                "PTSCHED_PRELOAD": self.preload}
        return guard + ["nice", "-n", str(nice), "env", f"LD_PRELOAD={self.preload}", *arguments], {}

    def start(self, arguments, nice=0, scheduled=False, extra=None, stdin=subprocess.DEVNULL,
              stdout=subprocess.PIPE):
        words, variables = self.command(arguments, nice, scheduled)
        self.number += 1
        log = os.path.join(self.logs, f"{self.number:03}.stderr")
        # Not a session of its own: where the kernel groups sessions, nice would mean nothing among them on the CPU.
        with open(log, "wb") as stderr:
            process = subprocess.Popen(
                words, stdin=stdin, stdout=stdout, stderr=stderr, text=True,
                env={**self.environment, **variables, **(extra or {})}, process_group=0)
        process.log = log
        process.words = " ".join(words)
        self.started.append(process)
        return process

    def finish(self, process, timeout):
        """What a process that ends by itself printed: (status, stdout, stderr)."""
        try:
            output, _ = process.communicate(timeout=timeout)
        except subprocess.TimeoutExpired:
            stop(process)
            raise ProgramError(f"no end after {timeout} s: {process.words}") from None
        return process.returncode, output, stderr_of(process)

    def answer(self, arguments, nice=0, scheduled=False, timeout=60):
        """The JSON that a program prints which ends by itself."""
        status, output, errors = self.finish(self.start(arguments, nice, scheduled), timeout)
        if status:
            raise ProgramError(f"{' '.join(arguments)}: status {status}: {errors.strip()} {output.strip()}")
        return json.loads(output)

    def stop_all(self):
        for process in self.started:
            if process.poll() is None and process.stdin:
                close_quietly(process.stdin)
        deadline = time.monotonic() + 5
        for process in self.started:
            try:
                process.wait(max(0, deadline - time.monotonic()))
            except subprocess.TimeoutExpired:
                stop(process)

    def left(self):
        return [process.words for process in self.started if process.poll() is None]


def stderr_of(process):
    with open(process.log, encoding="utf-8", errors="replace") as file:
        return file.read()


def threads_of(pid):
    """What each thread of a process that should have come to an end is at, and how much of a second it runs."""
    def look():
        found = {}
        for thread in glob.glob(f"/proc/{pid}/task/*"):
            try:
                with open(f"{thread}/stat", encoding="utf-8", errors="replace") as stat:
                    name, _, rest = stat.read().partition("(")[2].rpartition(")")
                with open(f"{thread}/wchan", encoding="utf-8") as wchan:
                    place = wchan.read()
            except OSError:
                continue
            state, ticks = rest.split()[0], sum(map(int, rest.split()[11:13]))
            found[thread] = (name, state, place, ticks)
        return found
    before = look()
    time.sleep(1)
    hertz = os.sysconf("SC_CLK_TCK")
    return ", ".join(f"{name} {state} in {place or '?'} {(ticks - before[thread][3]) / hertz:.0%}"
                     for thread, (name, state, place, ticks) in look().items() if thread in before)


def close_quietly(pipe):
    try:
        pipe.close()
    except OSError:
        pass


def stop(process):
    """SIGTERM and patience; SIGKILL only for one that hangs."""
    for number, patience in ((signal.SIGTERM, 10), (signal.SIGKILL, 10)):
        if process.poll() is not None:
            return
        try:
            os.killpg(process.pid, number)
        except ProcessLookupError:
            return
        try:
            process.wait(patience)
        except subprocess.TimeoutExpired:
            continue


class Server:
    """A program that takes orders. It starts in the background: wait for ready() before use."""

    def __init__(self, programs, name, arguments, nice, scheduled, extra=None):
        self.name = name
        self.process = programs.start(arguments, nice, scheduled, extra, stdin=subprocess.PIPE)
        self.changed = threading.Condition()
        self.pid = None
        self.facts = {}  # what it says of itself when it is ready
        self.ticks = []
        self.results = []
        self.ended = False
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        for line in self.process.stdout:
            try:
                event = json.loads(line)
            except ValueError:
                continue
            if not isinstance(event, dict):
                continue
            with self.changed:
                if event.get("event") == "ready":
                    self.facts = event
                    self.pid = event["pid"]
                elif event.get("event") == "tick":
                    self.ticks.append((event["t"], event["n"]))
                elif event.get("event") == "result":
                    self.results.append(event)
                self.changed.notify_all()
        with self.changed:
            self.ended = True
            self.changed.notify_all()

    def wait(self, condition, timeout, what):
        with self.changed:
            self.changed.wait_for(lambda: condition() or self.ended, timeout)
            if condition():
                return
        if self.ended:
            self.process.wait()
            tail = stderr_of(self.process).strip().splitlines()[-3:]
            raise ProgramError(f"{self.name} ended with status {self.process.returncode} "
                               f"instead of {what}: {' / '.join(tail)}")
        raise ProgramError(f"{self.name}: no {what} within {timeout:.0f} s; {threads_of(self.pid or self.process.pid)}")

    def ready(self, timeout=150):
        self.wait(lambda: self.pid is not None, timeout, "starting")
        return self

    def order(self, text):
        try:
            self.process.stdin.write(text + "\n")
            self.process.stdin.flush()
        except OSError as error:
            raise ProgramError(f"{self.name} takes no orders any more: {error}") from None

    def ask(self, text, timeout):
        """Gives an order and waits for its result."""
        self.results.clear()
        self.order(text)
        return self.result(timeout)

    def result(self, timeout):
        self.wait(lambda: self.results, timeout, "result")
        return self.results[0]

    def begin(self):
        """Runs until end(), and has done its first step when this returns."""
        with self.changed:
            self.ticks.clear()
            self.results.clear()
        self.order("run 100000")
        self.wait(lambda: self.ticks and self.ticks[-1][1] > 0, 30, "first step")

    def end(self):
        self.order("stop")
        return self.result(30)

    def count_at(self, instant):
        """The count at an instant between two ticks, by interpolation."""
        self.wait(lambda: self.ticks and self.ticks[-1][0] >= instant, 10, "tick")
        with self.changed:
            ticks = list(self.ticks)
        for (t0, n0), (t1, n1) in zip(ticks, ticks[1:]):
            if t0 <= instant <= t1:
                return n0 + (n1 - n0) * (instant - t0) / (t1 - t0)
        return ticks[0][1] if instant < ticks[0][0] else ticks[-1][1]

    def stop(self):
        close_quietly(self.process.stdin)
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            stop(self.process)
