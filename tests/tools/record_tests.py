# SPDX-License-Identifier: MIT
"""ptsched record: a scripted scenario, read back from the trace, and how recordings begin and end."""
import os
import pty
import select
import signal
import subprocess
import tempfile
from pathlib import Path

from harness import DEVICES, PTSCHED, Broker, Client, Events, Worker, check, check_equal, environment, ptsched, test
from perfetto_trace import Trace, packets

FIRST = (0, DEVICES[0])


class Recording:
    """A running "ptsched record" into a pipe; it has begun when the constructor returns."""

    def __init__(self, socket, *args):
        # pylint: disable=consider-using-with
        self.process = subprocess.Popen([PTSCHED, "record", "-o", "-", *args], env=environment(socket), bufsize=0,
                                        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.first = self.process.stdout.read(1)
        check(self.first, "record ended before it began")

    def finish(self, stop_signal=signal.SIGINT):
        """(trace, what it said)"""
        if stop_signal:
            self.process.send_signal(stop_signal)
        out, err = self.process.communicate()
        check_equal(self.process.returncode, 0, f"status ({err.decode()})")
        return Trace(self.first + out), err.decode()


def name_of(client):
    return f"tools-client {client.pid}"


def until_state(broker, client, state):
    while broker.entity(client.pid)["state"] != state:
        pass


@test
def record_scenario():
    """record: two processes in turns, as slices in their order; the sums are those of stat"""
    with Broker() as broker, Client(broker.socket) as first, Client(broker.socket) as second:
        # However long it takes to obey, it is waited for.
        check_equal(broker.ptsched("set", "drain=10s").status, 0, "status of set")
        recording = Recording(broker.socket)
        events = Events(broker.socket)
        first.tell("acquire")
        second.send("acquire")
        events.until("wait", second.pid)
        events.until("callback", first.pid)
        first.tell("release 1000 1")
        check_equal(second.answer(), "ok", "answer to acquire")
        second.tell("release 1000 1")
        first.tell("acquire")
        first.tell("release 1000 1")
        check_equal(broker.ptsched("set", "--device", "0", "slice=5ms").status, 0, "status of set")
        events.until("settings", None)
        stat = broker.stat()
        counters = {entity["pid"]: entity["counters"] for entity in stat["entities"]}
        trace, said = recording.finish()
        events.finish()
    check_equal(trace.unfinished(), [], "slices without an end")
    one, two = (trace.of(FIRST, name_of(client)) for client in (first, second))
    check_equal([(each.name, each.depth) for each in one.slices], [("turn", 0), ("called back", 1), ("turn", 0)],
                "what the first did")
    check_equal([(each.name, each.depth) for each in two.slices], [("waiting", 0), ("turn", 0)], "and the second")
    check_equal([each.notes["turn"] for each in sorted(one.slices + two.slices, key=lambda each: each.begin)
                 if each.name == "turn"], [1, 2, 3], "order of turns")
    check_equal(two.slices[0].end, two.slices[1].begin, "end of the wait")
    check(one.slices[0].end <= two.slices[1].begin, "one turn at a time")
    check_equal(one.slices[1].end, one.slices[0].end, "end of the call-back")
    for client, track in ((first, one), (second, two)):
        told = counters[client.pid]
        check_equal((track.total("turn"), track.total("waiting")), (told["held_ns"], told["wait_ns"]),
                    f"time held and waited by {track.name}")
        values = trace.of(FIRST, name_of(client) + "/budget").values
        check_equal(len([value for _, value in values]), 1 + sum(2 for each in track.slices if each.name == "turn") +
                    len(track.slices) - told["turns"], "budgets told")
    turns = trace.named(f"GPU 0 ({DEVICES[0]})/turn")
    check_equal(len(turns), 1, "one holds the turn at a time")
    check_equal([each.name for each in turns[0].slices], [name_of(first), name_of(second), name_of(first)], "turns")
    check_equal(sum(each.ns for each in turns[0].slices), stat["devices"][0]["counters"]["held_ns"], "time held")
    waiting = trace.of(FIRST, "processes that wait").values
    check_equal([value for _, value in waiting], [0, 1, 0], "how many wait")
    check_equal([name for name, _ in trace.of(FIRST).instants], ["settings"], "instants of the device")
    check("2 processes" in said and "ui.perfetto.dev" not in said, f"summary: {said}")


@test
def record_of_what_was_there():
    """record: who held the turn or waited before it began does so from its beginning to its end"""
    with Broker() as broker, Client(broker.socket) as holder, Client(broker.socket) as waiter, \
            Client(broker.socket) as idle:
        check_equal(broker.ptsched("set", "drain=10s").status, 0, "status of set")
        holder.tell("acquire")
        waiter.send("acquire")
        until_state(broker, waiter, "waiting")
        trace, _ = Recording(broker.socket, "--seconds", "0.3").finish(stop_signal=None)
        holder.tell("release 0 0")
        check_equal(waiter.answer(), "ok", "answer to acquire")
    held, waited, nothing = ([each for each in trace.of(FIRST, name_of(client)).slices if not each.depth]
                             for client in (holder, waiter, idle))
    check_equal([each.name for each in held], ["turn"], "the holder")
    check_equal([each.name for each in waited], ["waiting"], "the waiter")
    check_equal(nothing, [], "one that does nothing")
    check_equal((held[0].begin, held[0].end), (waited[0].begin, waited[0].end), "all of the recording")
    check(held[0].ns >= 300_000_000, f"for {held[0].ns} ns")


@test
def record_several_holders():
    """record: turns of several at once are slices beside each other"""
    with Broker() as broker, Client(broker.socket) as first, Client(broker.socket) as second:
        check_equal(broker.ptsched("set", "policy=none").status, 0, "status of set")
        recording = Recording(broker.socket)
        for line in ("acquire", "release 0 0"):
            for client in (first, second):
                client.tell(line)
        broker.stat()
        trace, _ = recording.finish()
    turns = trace.named(f"GPU 0 ({DEVICES[0]})/turn")
    check_equal(sorted(each.name for track in turns for each in track.slices), sorted(map(name_of, (first, second))),
                "turns")
    check_equal(len(turns), 2, "tracks of turns")


@test
def record_of_a_program():
    """record -- COMMAND ends with it, has all that it did, and passes its status on"""
    with Broker() as broker, tempfile.TemporaryDirectory() as folder:
        path = folder + "/trace"
        script = f'printf "open {DEVICES[1]}\\nacquire\\nrelease 5 1\\n" | "$0"; exit 3'
        result = broker.ptsched("record", "-o", path, "--", "sh", "-c", script, str(Path(PTSCHED).parent.parent /
                                                                                  "tests/tools-client"))
        check_equal(result.status, 3, f"status ({result.err})")
        check("ui.perfetto.dev" in result.err and path in result.err, f"{result}")
        trace = Trace(Path(path).read_bytes())
        turns = trace.named(f"GPU 1 ({DEVICES[1]})/turn")
        check_equal([len(track.slices) for track in turns], [1], "turns")
        result = broker.ptsched("record", "-o", path, "sh", "-c", "kill -KILL $$")
        check_equal(result.status, 128 + signal.SIGKILL, "status of one that was killed")
        for program, status in (("/nonexistent/program", 127), (folder, 126)):
            result = broker.ptsched("record", "-o", path, "--", program)
            check_equal(result.status, status, f"status ({result.err})")
            check(program in result.err, f"{result}")


@test
def record_refuses():
    """record says what is wrong with its words, or with its file"""
    with Broker() as broker:
        for args, status, words in ((["--seconds", "0"], 2, ["seconds", "0.001"]),
                                    (["--seconds", "soon"], 2, ["seconds=soon"]),
                                    (["--seconds", "1", "--", "true"], 2, ["--seconds", "one of them"]),
                                    (["--bogus", "true"], 2, ["--bogus"]),
                                    (["-o", "/nonexistent/trace", "--", "true"], 1, ["/nonexistent/trace"]),
                                    (["-o", "/dev/full", "--", "true"], 1, ["/dev/full", "No space left"])):
            result = broker.ptsched("record", *args)
            check_equal(result.status, status, f"status of {args} ({result.err})")
            for word in words:
                check(word in result.err, f"{args}: no {word} in {result.err}")
    check_equal(ptsched("record", "--", "true").status, 1, "status without a scheduler")


def start(broker, path):
    """A recording into a file, that has begun."""
    # pylint: disable=consider-using-with
    process = subprocess.Popen([PTSCHED, "record", "-o", path], env=environment(broker.socket), stderr=subprocess.PIPE,
                               text=True)
    grow(process, path, 1)
    return process


def grow(process, path, size):
    """Until the file of a recording has so many bytes."""
    while not path.exists() or path.stat().st_size < size:
        check(process.poll() is None, "record ended")


@test
def record_that_is_killed():
    """record that is killed leaves a trace that can be read, wherever it is cut off"""
    with Broker() as broker, Worker(broker.socket), tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "trace")
        process = start(broker, path)
        grow(process, path, 100_000)
        process.kill()
        process.communicate()
        data = path.read_bytes()
    check(any(track.slices for track in Trace(data).tracks.values()), "slices")
    data = data[:3000]
    whole = list(packets(data))
    for size in range(len(data)):
        found = list(packets(data[:size]))
        check_equal(found, whole[:len(found)], f"packets in {size} bytes")


@test
def record_until_the_broker_ends():
    """record when the scheduler ends says so, and the trace has an end"""
    with Broker() as broker, Client(broker.socket) as client, tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "trace")
        process = start(broker, path)
        client.tell("acquire")
        broker.stop()
        _, err = process.communicate()
        trace = Trace(path.read_bytes())
    check_equal(process.returncode, 1, "status")
    check("hung up" in err, f"{err}")
    check_equal([each.name for each in trace.of(FIRST, name_of(client)).slices], ["turn"], "slices")
    check_equal(trace.unfinished(), [], "slices without an end")


@test
def record_loses_events():
    """record: where events are lost, the trace says so, and goes on with how things are"""
    with Broker() as broker, Client(broker.socket) as client, tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "trace")
        process = start(broker, path)
        process.send_signal(signal.SIGSTOP)
        # More than a socket holds.
        for _ in range(3000):
            client.tell("acquire")
            client.tell("release 0 0")
        process.send_signal(signal.SIGCONT)
        while b"events lost" not in path.read_bytes():
            client.tell("acquire")
            client.tell("release 0 0")
        client.tell("acquire")
        broker.stat()
        process.send_signal(signal.SIGINT)
        _, err = process.communicate()
        client.tell("release 0 0")
        check_equal(process.returncode, 0, f"status ({err})")
        check("events were lost" in err, f"summary: {err}")
        trace = Trace(path.read_bytes())
    check_equal(trace.unfinished(), [], "slices without an end")
    lost = trace.of(FIRST, "events lost").slices
    turns = [each for each in trace.of(FIRST, name_of(client)).slices if each.name == "turn"]
    check(lost and any(each.begin >= lost[-1].end for each in turns), f"{len(turns)} turns, {len(lost)} losses")
    numbers = [each.notes["turn"] for each in turns if each.notes]
    check_equal(numbers, sorted(set(numbers)), "each turn once, in their order")


@test
def record_shows_progress():
    """record shows on a terminal how far it is, and on none says only how it ended"""
    with Broker() as broker, tempfile.TemporaryDirectory() as folder:
        main, terminal = pty.openpty()
        words = [PTSCHED, "record", "-o", folder + "/trace", "--seconds"]
        # pylint: disable=consider-using-with
        process = subprocess.Popen([*words, "1.2"], env=environment(broker.socket), stdin=subprocess.DEVNULL,
                                   stderr=terminal)
        check_equal(process.wait(), 0, "status")
        # Less than a terminal holds; once nobody has it open, what was written last may be lost.
        shown = b""
        while select.select([main], [], [], 0)[0]:
            shown += os.read(main, 65536)
        os.close(terminal)
        os.close(main)
        lines = [line for line in shown.decode().split("\r") if line.strip("\n\x1b[K")]
        check(len(lines) >= 2 and all("events" in line for line in lines), f"shown: {lines}")
        result = broker.ptsched(*words[1:], "0.01")
        check_equal((result.status, len(result.err.splitlines()), "\r" in result.err), (0, 1, False), f"{result}")
