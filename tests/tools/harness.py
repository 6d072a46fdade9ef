# SPDX-License-Identifier: MIT
"""What the tests of the tools share: TAP, a broker on a private socket, clients of
libptsched and the tool itself. Nothing here waits for a time, only for lines, ends of
processes and bytes on a terminal."""
import json
import os
import pwd
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import traceback
from pathlib import Path

BUILD = Path(__file__).resolve().parent.parent
PTSCHED = str(BUILD / "bin/ptsched")
PTSCHEDD = str(BUILD / "bin/ptschedd")
CLIENT = str(BUILD / "tests/tools-client")
EMPTY = str(BUILD / "tests/tools-empty.so")
PRELOAD = str(BUILD / "lib/libptsched-preload.so")
DEVICES = ["ffff:01:00.0", "ffff:02:00.0"]

TESTS = []


def test(function):
    """Adds a test; its doc string is its name."""
    TESTS.append(function)
    return function


class Failure(AssertionError):
    pass


class Skip(Exception):
    """What this machine lacks for the test, or for the rest of it."""


def check(condition, text):
    if not condition:
        raise Failure(text)


def check_equal(got, want, text):
    check(got == want, f"{text}: {got!r}, not {want!r}")


def run_all():
    # Python ignores SIGPIPE, and so would every program that it starts.
    print(f"TAP version 13\n1..{len(TESTS)}", flush=True)
    failed = 0
    for number, function in enumerate(TESTS, 1):
        try:
            function()
            result, why = "ok", ""
        except Skip as skip:
            result, why = "ok", f" # SKIP {skip}"
        except Exception:  # whatever it is, the other tests still run
            failed = 1
            result, why = "not ok", ""
            for line in traceback.format_exc().splitlines():
                print("# " + line)
        print(f"{result} {number} - {function.__doc__}{why}", flush=True)
    sys.exit(failed)


class Result:
    """What a finished command left."""

    def __init__(self, run):
        self.status = run.returncode
        self.out = run.stdout
        self.err = run.stderr
        self.text = run.stdout + run.stderr

    def __repr__(self):
        return f"status {self.status}\nstdout: {self.out}\nstderr: {self.err}"


def environment(socket=None, **more):
    """This machine's scheduler, if it has one, is not to be seen by the tests."""
    env = dict(os.environ, PTSCHED_DEVICE_NODE="/nonexistent/ptsched",
               PTSCHED_SOCKET=socket or "/nonexistent/broker.sock")
    env.update(more)
    return {name: value for name, value in env.items() if value is not None}


def ptsched(*args, socket=None, env=None, **options):
    """Runs the tool to its end."""
    run = subprocess.run([PTSCHED, *args], env=env or environment(socket), text=True,
                         stdin=subprocess.DEVNULL, capture_output=True, check=False, **options)
    return Result(run)


class Broker:
    """A broker with two devices that have no hardware; @under: words of a program that starts it."""

    def __init__(self, under=(), says_when_ready=True):
        self.under = list(under)
        self.says_when_ready = says_when_ready

    def __enter__(self):
        self.folder = tempfile.mkdtemp(prefix="ptsched-tools-")
        os.chmod(self.folder, 0o755)
        self.socket = self.folder + "/broker.sock"
        # pylint: disable=consider-using-with
        self.process = subprocess.Popen(
            [*self.under, PTSCHEDD, "--socket", self.socket, "--test-devices", str(len(DEVICES)),
             "--slice-us", "10000", "--grace-us", "2000", "--drain-us", "100000", "--inflight-us", "2000"],
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        while not self.says_when_ready and self.ptsched("set", "grace=2ms").status:
            check(self.process.poll() is None, "the broker ended")
        for line in self.process.stderr if self.says_when_ready else ():
            if "listening" in line:
                break
        else:
            check(not self.says_when_ready, f"the broker ended: {self.process.poll()}")
        # A pipe that nobody reads would stop it.
        self.reader = threading.Thread(target=self.process.stderr.read)
        self.reader.start()
        return self

    def stop(self):
        # What it was started by need not pass a request to end on.
        (self.process.kill if self.under else self.process.terminate)()
        self.process.wait()

    def __exit__(self, *_):
        self.stop()
        self.reader.join()
        self.process.stderr.close()
        shutil.rmtree(self.folder)

    def ptsched(self, *args, **options):
        return ptsched(*args, socket=self.socket, **options)

    def stat(self, *args):
        result = self.ptsched("stat", "--json", *args)
        check_equal(result.status, 0, f"status of stat ({result.err})")
        return json.loads(result.out)

    def settings(self, device=0):
        return self.stat()["devices"][device]["settings"]

    def entity(self, pid):
        """What stat says of a process; None: nothing."""
        found = [entity for entity in self.stat()["entities"] if entity["pid"] == pid]
        return found[0] if found else None


class Client:
    """A process with a client of libptsched."""

    def __init__(self, socket, device=DEVICES[0], program=CLIENT, **program_environment):
        # pylint: disable=consider-using-with
        self.process = subprocess.Popen([program], env=environment(socket, **program_environment), text=True,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.pid = self.process.pid
        self.tell(f"open {device}")

    def send(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    def answer(self):
        return self.process.stdout.readline().strip()

    def tell(self, line):
        self.send(line)
        check_equal(self.answer(), "ok", f"answer to {line!r}")

    def close(self):
        self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


class Worker:
    """A client that takes turns all the time, reporting all of each as GPU time."""

    def __init__(self, socket):
        self.client = Client(socket)
        self.leave = threading.Event()
        self.thread = threading.Thread(target=self.work)

    def work(self):
        while not self.leave.is_set():
            self.client.tell("acquire")
            # More than the turn lasted; the scheduler counts no more than that.
            self.client.tell("release 1000000000 1")

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.leave.set()
        self.thread.join()
        self.client.close()


class Events:
    """A running "ptsched events", subscribed when the constructor returns."""

    def __init__(self, socket, *args, as_json=True):
        self.as_json = as_json
        # pylint: disable=consider-using-with
        self.process = subprocess.Popen(
            [PTSCHED, "events", *(["--json"] if as_json else []), *args], env=environment(socket),
            text=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.first = self.process.stdout.readline()
        check(self.first, "events ended before it began")

    def next(self):
        line = self.process.stdout.readline()
        check(line, "events ended early")
        return json.loads(line) if self.as_json else line.split()

    def until(self, kind, pid):
        """Reads on to that event of that process."""
        while True:
            event = self.next()
            if event["event"] == kind and event.get("pid") == pid:
                return event

    def finish(self, stop_signal=signal.SIGINT):
        """(status, what else it printed, what it complained of)"""
        if stop_signal:
            self.process.send_signal(stop_signal)
        out, err = self.process.communicate()
        return self.process.returncode, out, err


class FullPipe:
    """A pipe into which nothing goes any more, for who is to write where nobody reads."""

    def __enter__(self):
        self.read_end, self.write_end = os.pipe()
        os.set_blocking(self.write_end, False)
        try:
            while True:
                os.write(self.write_end, bytes(4096))
        except BlockingIOError:
            os.set_blocking(self.write_end, True)
        return self

    def __exit__(self, *_):
        os.close(self.read_end)
        os.close(self.write_end)

    def stopped(self, socket, *args):
        """(status, what it complained of) of a command that writes there and gets SIGTERM."""
        with subprocess.Popen([PTSCHED, *args], env=environment(socket), text=True, stdin=subprocess.DEVNULL,
                              stdout=self.write_end, stderr=subprocess.PIPE) as process:
            while process.poll() is None and not is_blocked(process.pid, signal.SIGTERM):
                time.sleep(0.01)
            process.send_signal(signal.SIGTERM)
            _, err = process.communicate(timeout=60)
        return process.returncode, err


def is_blocked(pid, number):
    with open(f"/proc/{pid}/status", encoding="ascii", errors="replace") as status:
        blocked = next(line for line in status if line.startswith("SigBlk:"))
    return bool(int(blocked.split()[1], 16) >> (number - 1) & 1)


def as_nobody():
    """Options for subprocess that give up every privilege, for tests of refusals."""
    nobody = pwd.getpwnam("nobody")
    return {"user": nobody.pw_uid, "group": nobody.pw_gid, "extra_groups": []}
