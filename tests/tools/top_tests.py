# SPDX-License-Identifier: MIT
"""ptsched top, as text and on a terminal."""
import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import termios

from harness import BUILD, PTSCHED, Broker, Client, Worker, check, check_equal, environment, ptsched, test

COLUMNS = ["PID", "USER", "NI", "WEIGHT", "STATE", "GPU%", "SHARE", "WAIT%", "WORK/S", "BUDGET", "TURNS",
           "CALLBACKS", "FORCED", "COMMAND"]


class Terminal:
    """ptsched top on a terminal of its own."""

    def __init__(self, socket, rows=24, columns=120, **variables):
        # The other side stays open: once nobody has it, what was written last may be lost.
        self.master, self.slave = pty.openpty()
        self.process = None
        self.resize(rows, columns)
        # pylint: disable=consider-using-with
        self.process = subprocess.Popen(
            [PTSCHED, "top", "--device", "0", "--interval", "100ms"], stdin=self.slave, stdout=self.slave,
            stderr=self.slave, env=environment(socket, TERM="xterm", LINES=None, COLUMNS=None, **variables),
            start_new_session=True)
        self.output = b""

    def resize(self, rows, columns):
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        # The kernel sends it only to those whose controlling terminal it is.
        if self.process:
            self.process.send_signal(signal.SIGWINCH)

    def press(self, key):
        os.write(self.master, key)

    def read_on(self):
        """Adds to the output; False at its end."""
        ended = False
        while not select.select([self.master], [], [], 0 if ended else 0.05)[0]:
            if ended:
                return False
            ended = self.process.poll() is not None
        self.output += os.read(self.master, 65536)
        return True

    def until(self, pattern):
        """Reads on until the pattern is drawn."""
        while not re.search(pattern, self.output):
            check(self.read_on(), f"ended without drawing {pattern}: {self.output}")

    def screen(self):
        """Has everything drawn anew, and what was drawn; between that, only changes are."""
        self.output = b""
        self.press(b"\f")
        self.until(rb"(?s)\x1b\[H\x1b\[2J(?!.*\x1b\[2J).*q: quit")
        return self.output[self.output.rindex(b"\x1b[2J"):]

    def finish(self):
        """Reads to the end; the exit status."""
        while self.read_on():
            pass
        os.close(self.master)
        os.close(self.slave)
        return self.process.wait()


@test
def once():
    """top --once prints the columns and a row for each process"""
    with Broker() as broker:
        with Worker(broker.socket) as worker, Client(broker.socket) as idle:
            result = broker.ptsched("top", "--once", "--interval", "200ms", "--device", "0")
            check_equal(result.status, 0, f"status ({result.err})")
            lines = [line.split() for line in result.out.splitlines()]
            check(COLUMNS in lines, f"columns: {result.out}")
            rows = {row[0]: row for row in lines[lines.index(COLUMNS) + 1:]}
            check_equal(sorted(rows), sorted([str(worker.client.pid), str(idle.pid)]), "processes")
            row = dict(zip(COLUMNS, rows[str(idle.pid)]))
            check_equal((row["STATE"], row["GPU%"], row["SHARE"], row["WORK/S"], row["TURNS"], row["COMMAND"]),
                        ("idle", "0.0", "0.0", "0", "0", "tools-client"), "idle process")
        result = broker.ptsched("top", "--once", "--interval", "10ms")
        check("DEV" in result.out.split(), f"several devices are told apart: {result.out}")


@test
def bad_interval():
    """top refuses an interval out of its range"""
    for value in ("0", "9ms", "1", "2h"):
        result = ptsched("top", "--once", "--interval", value)
        check_equal(result.status, 2, f"status of {value}")
        check("interval=" + value in result.err and "10ms" in result.err, f"{value}: {result}")


@test
def no_terminal():
    """top without a terminal says so and names --once"""
    with Broker() as broker:
        result = broker.ptsched("top")
        check_equal(result.status, 1, "status")
        check("--once" in result.err, f"{result}")


@test
def on_a_terminal():
    """top draws shares, follows the terminal's size and ends with q, the terminal restored"""
    with Broker() as broker, Worker(broker.socket) as worker:
        terminal = Terminal(broker.socket)
        # The only worker has all of the GPU time that anybody used, and all that was submitted.
        row = str(worker.client.pid).encode() + rb" .*  100\.0  +[0-9.]+  +[1-9][0-9.]*k?  .*tools-client"
        while not re.search(row, picture := terminal.screen()):
            check(b"PID  USER" in picture, f"columns: {picture}")
        check(b"\x1b[24dq: quit" in picture, f"24 lines: {picture}")
        # The new size arrives with a signal, after which the last line is another one.
        for rows, columns in ((40, 100), (2, 10), (24, 80)):
            terminal.resize(rows, columns)
            last = rb"\x1b\[%d(;1H|d)q: quit" % rows
            while not re.search(last, picture := terminal.screen()):
                pass
        terminal.press(b"q")
        check_equal(terminal.finish(), 0, "status")
        check(b"\x1b[?1049l" in terminal.output, f"end of the full screen: {terminal.output}")


@test
def scheduler_ends():
    """top ends with the reason when the scheduler does, the terminal restored"""
    with Broker() as broker:
        terminal = Terminal(broker.socket)
        terminal.until(rb"q: quit")
        broker.stop()
        check_equal(terminal.finish(), 1, "status")
        check(b"hung up" in terminal.output, f"reason: {terminal.output}")
        check(terminal.output.index(b"\x1b[?1049l") < terminal.output.index(b"hung up"), "reason on the screen")


@test
def time_of_day_jumps():
    """top goes on looking at its interval when the time of day is set, also back"""
    with Broker() as broker, Worker(broker.socket):
        terminal = Terminal(broker.socket, LD_PRELOAD=str(BUILD / "tests/jumping_clock.so"))
        # What the worker has used is another at every look. Some jumps come in that time.
        terminal.until(rb"q: quit")
        for _ in range(20):
            check(terminal.read_on(), f"ended: {terminal.output}")
        terminal.press(b"q")
        check_equal(terminal.finish(), 0, "status")


@test
def interrupted():
    """top gives the terminal back when it is ended by Ctrl-C or SIGTERM"""
    with Broker() as broker:
        for stop in (signal.SIGINT, signal.SIGTERM):
            terminal = Terminal(broker.socket)
            terminal.until(rb"q: quit")
            terminal.process.send_signal(stop)
            terminal.finish()
            check(b"\x1b[?1049l" in terminal.output, f"screen after {stop}: {terminal.output}")
