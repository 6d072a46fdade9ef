#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The tool ptsched against a real broker with real clients."""
import json
import os
import pwd
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading

import cgroup_tests  # pylint: disable=unused-import
import group_tests  # pylint: disable=unused-import
import harness
import openmetrics_tests  # pylint: disable=unused-import
import record_tests  # pylint: disable=unused-import
import run_tests  # pylint: disable=unused-import
import top_tests  # pylint: disable=unused-import
from harness import DEVICES, Broker, Client, Events, FullPipe, as_nobody, check, check_equal, ptsched, test


@test
def every_command_explains_itself():
    """--help of every command has an example; --version names the release"""
    for command in ("run", "top", "stat", "set", "events", "record", "doctor"):
        result = ptsched(command, "--help")
        check_equal(result.status, 0, f"status of {command} --help")
        check("Example" in result.out and "ptsched " + command in result.out, f"no example: {result}")
    result = ptsched("--version")
    check_equal(result.status, 0, "status of --version")
    check(result.out.startswith("ptsched ") and result.out.strip()[-1].isdigit(), f"version: {result}")


@test
def usage_errors():
    """a wrong command line is refused with status 2 and a pointer to --help"""
    for args in ([], ["bogus"], ["stat", "--bogus"], ["set"], ["stat", "--module", "--broker", "x"]):
        result = ptsched(*args)
        check_equal(result.status, 2, f"status of {args}")
        check("--help" in result.err, f"{args}: {result}")


@test
def stat_json():
    """stat --json describes devices, settings and counters"""
    with Broker() as broker:
        stat = broker.stat()
        check_equal(stat["scheduler"]["kind"], "broker", "kind")
        check_equal(stat["scheduler"]["path"], broker.socket, "path")
        check_equal(stat["scheduler"]["version"], "1.2", "version")
        check_equal([device["pci"] for device in stat["devices"]], DEVICES, "devices")
        check_equal(stat["entities"], [], "entities")
        device = stat["devices"][0]
        check_equal(device["settings"],
                    {"policy": "weighted", "grouping": "process", "idle_sharing": True, "many": False,
                     "slice_ns": 10_000_000, "grace_ns": 2_000_000, "drain_ns": 100_000_000,
                     "inflight_ns": 2_000_000, "alpha": 1.0, "node": None}, "settings that the broker began with")
        for counter in ("turns", "callbacks", "preempts", "escalations", "forced", "overrun_ns", "held_ns", "occupancy_ns",
                        "given_ns", "gpu_ns"):
            check_equal(device["counters"][counter], 0, counter)


@test
def stat_of_a_client():
    """stat shows a client, its state, turns and use, on its device only"""
    with Broker() as broker:
        with Client(broker.socket, DEVICES[1]) as client:
            entity = broker.entity(client.pid)
            check_equal((entity["device_id"], entity["state"], entity["mechanism"], entity["clients"]),
                        (1, "idle", "gate", 1), "entity at rest")
            check_equal((entity["uid"], entity["nice"], entity["comm"]),
                        (os.getuid(), os.nice(0), "tools-client"), "whose it is")
            client.tell("acquire")
            check_equal(broker.entity(client.pid)["state"], "holding", "state with the turn")
            client.tell("release 1000 3")
            counters = broker.entity(client.pid)["counters"]
            check_equal((counters["turns"], counters["submissions"]), (1, 3), "turns, submissions")
            check_equal(counters["gpu_ns"], 1000, "GPU time")
            table = broker.ptsched("stat").out
            check(str(client.pid) in table and "tools-client" in table, f"table: {table}")
            for name in ("1", DEVICES[1], DEVICES[1][5:] if DEVICES[1][:4] == "0000" else DEVICES[1]):
                check_equal(len(broker.stat("--device", name)["entities"]), 1, f"entities of {name}")
            check_equal(broker.stat("--device", "0")["entities"], [], "entities of the other device")
        check_equal(broker.entity(client.pid), None, "entity after its end")


@test
def unknown_device():
    """a device that does not exist is refused, with those that do"""
    with Broker() as broker:
        for command in (["stat"], ["set", "slice=1ms"], ["events"], ["top", "--once"]):
            result = broker.ptsched(*command, "--device", "0000:99:00.0")
            check_equal(result.status, 1, f"status of {command}")
            check("0000:99:00.0" in result.err and DEVICES[0] in result.err, f"{command}: {result}")


@test
def set_changes_settings():
    """set changes every setting, of all devices or of one"""
    with Broker() as broker:
        result = broker.ptsched("set", "policy=literal", "grouping=user", "idle-sharing=off", "many=on", "slice=1.5ms",
                                "grace=0", "drain=2s", "inflight=10us", "alpha=0.25")
        check_equal(result.status, 0, f"status ({result.err})")
        want = {"policy": "literal", "grouping": "user", "idle_sharing": False, "many": True, "slice_ns": 1_500_000,
                "grace_ns": 0, "drain_ns": 2_000_000_000, "inflight_ns": 10_000, "alpha": 0.25, "node": None}
        for device in (0, 1):
            check_equal(broker.settings(device), want, f"settings of device {device}")
        result = broker.ptsched("set", "--device", DEVICES[1], "policy=none", "slice=100000ns")
        check_equal(result.status, 0, f"status ({result.err})")
        check_equal(broker.settings(0), want, "settings of the other device")
        check_equal(broker.settings(1), dict(want, policy="none", slice_ns=100_000), "settings")
        for node, number in (("/dev/null", "1:3"), ("none", None)):
            result = broker.ptsched("set", "--device", DEVICES[0], "node=" + node)
            check_equal(result.status, 0, f"status ({result.err})")
            check_equal(broker.settings(0)["node"], number, "node")
        # No driver tells of these.
        check_equal(broker.ptsched("set", "node=auto").status, 0, "status")
        result = broker.ptsched("set", "--device", DEVICES[0], "node=auto")
        check_equal(result.status, 1, "status of a node that nobody knows")
        check("node=/dev/nvidia0" in result.err, f"{result}")


@test
def set_changes_weight():
    """set --pid changes a weight, and auto gives back that of nice"""
    with Broker() as broker, Client(broker.socket) as client:
        natural = broker.entity(client.pid)["weight"]
        check_equal(broker.ptsched("set", "--pid", str(client.pid), "weight=4711").status, 0, "status")
        entity = broker.entity(client.pid)
        check_equal((entity["weight"], entity["weight_set"]), (4711, True), "weight")
        check("4711*" in broker.ptsched("stat").out, "a set weight is marked")
        check_equal(broker.ptsched("set", "--pid", str(client.pid), "weight=auto").status, 0, "status")
        entity = broker.entity(client.pid)
        check_equal((entity["weight"], entity["weight_set"]), (natural, False), "weight by nice")
        result = broker.ptsched("set", "--pid", str(os.getpid()), "weight=1")
        check_equal(result.status, 1, "status for a process that is not attached")
        check("pid" in result.err and "not attached" in result.err, f"{result}")


@test
def set_changes_share():
    """set --user changes a user's share, by name or number, also of one without processes"""
    with Broker() as broker, Client(broker.socket) as client:
        check_equal(broker.entity(client.pid)["share"], 100, "share that nobody has set")
        name = pwd.getpwuid(os.getuid()).pw_name
        for user, share in ((name, 250), (str(os.getuid()), 40)):
            result = broker.ptsched("set", "--user", user, f"share={share}")
            check_equal(result.status, 0, f"status ({result.err})")
            check_equal(broker.entity(client.pid)["share"], share, f"share of {user}")
        result = broker.ptsched("set", "--user", "4711", "--device", DEVICES[1], "share=7")
        check_equal(result.status, 0, f"status ({result.err})")
        check_equal(broker.entity(client.pid)["share"], 40, "share after another's was set")


# What is given, and what the refusal must contain.
BAD_SETTINGS = [
    (["slice=99us"], ["slice", "99us", "100us", "1s"]),
    (["slice=1.000000001s"], ["slice", "100us", "1s"]),
    (["slice=10"], ["slice", "ns, us, ms or s"]),
    (["slice=ms"], ["slice=ms", "100us"]),
    (["slice="], ["slice", "100us"]),
    (["slice=-1ms"], ["slice=-1ms", "100us"]),
    (["slice=0.5ns"], ["slice=0.5ns", "100us"]),
    (["slice=1e3ms"], ["slice=1e3ms"]),
    (["slice=99999999999999999999s"], ["slice=9999", "1s"]),
    (["grace=1001ms"], ["grace", "1001ms", "from 0 to 1s"]),
    (["drain=999us"], ["drain", "999us", "1ms", "10s"]),
    (["drain=11s"], ["drain", "1ms", "10s"]),
    (["inflight=9us"], ["inflight", "10us", "1s"]),
    (["inflight=0"], ["inflight", "10us", "1s"]),
    (["alpha=0"], ["alpha", "0.001", "1"]),
    (["alpha=1.001"], ["alpha", "1.001", "0.001"]),
    (["alpha=0.0005"], ["alpha", "three decimals"]),
    (["alpha=nan"], ["alpha=nan"]),
    (["node=/etc/passwd"], ["node=/etc/passwd", "/dev/nvidia0", "auto", "none"]),
    (["node=/dev/null"], ["one device", "--device", "node=auto"]),
    (["policy=fair"], ["policy=fair", "weighted, literal or none"]),
    (["policy="], ["policy", "weighted, literal or none"]),
    (["grouping=tree"], ["grouping=tree", "process, user or cgroup"]),
    (["share=5"], ["share", "--user"]),
    (["--user", "nobody-here", "share=5"], ["--user nobody-here", "no user"]),
    (["--user", "-1", "share=5"], ["--user", "no user"]),
    (["--user", "root", "share=0"], ["share=0", "1 to 10000"]),
    (["--user", "root", "share=10001"], ["share=10001", "1 to 10000"]),
    (["--user", "root", "weight=5"], ["weight", "share"]),
    (["--user", "root", "share=5", "share=6"], ["exactly one"]),
    (["--user", "root", "--pid", "1", "share=5"], ["--user", "--pid"]),
    (["--cgroup", "/", "share=5"], ["share", "weight"]),
    (["--cgroup", "/", "weight=0"], ["weight=0", "1 to 10000", "auto"]),
    (["--cgroup", "/", "weight=10001"], ["weight=10001", "1 to 10000", "auto"]),
    (["--cgroup", "/", "weight=5", "weight=6"], ["--cgroup", "exactly one"]),
    (["--cgroup", "/", "--pid", "1", "weight=5"], ["--cgroup", "--pid"]),
    (["--cgroup", "/", "--user", "root", "weight=5"], ["--cgroup", "--user"]),
    (["--cgroup", "/nonexistent", "weight=5"], ["--cgroup /nonexistent", "cgroup2"]),
    (["idle-sharing=maybe"], ["idle-sharing=maybe", "on or off"]),
    (["many=1"], ["many=1", "on or off"]),
    (["speed=9"], ["speed", "policy", "inflight"]),
    (["slice"], ["slice", "SETTING=VALUE"]),
    (["=5"], ["=5", "SETTING=VALUE"]),
    (["weight=5"], ["weight", "--pid", "--cgroup"]),
    (["slice=1ms", "slice=2ms"], ["slice", "twice"]),
    (["slice=1ms", "grace=5s"], ["grace=5s", "from 0 to 1s"]),
    (["--pid", "0", "weight=5"], ["pid=0", "1 to"]),
    (["--pid", "x", "weight=5"], ["pid=x"]),
    (["--pid", "1", "weight=0"], ["weight=0", "1 to 1000000", "auto"]),
    (["--pid", "1", "weight=1000001"], ["weight=1000001", "1 to 1000000"]),
    (["--pid", "1", "weight=heavy"], ["weight=heavy", "1 to 1000000"]),
    (["--pid", "1", "slice=1ms"], ["slice", "weight"]),
    (["--pid", "1", "weight=5", "weight=6"], ["exactly one"]),
]


@test
def set_refuses():
    """set refuses what is out of range by name, value and range, and changes nothing"""
    with Broker() as broker:
        before = broker.stat()
        for args, words in BAD_SETTINGS:
            result = broker.ptsched("set", *args)
            check_equal(result.status, 2, f"status of set {args} ({result.err})")
            for word in words:
                check(word in result.err, f"set {args}: no {word!r} in: {result.err}")
        check_equal(broker.stat(), before, "state after refusals")


@test
def set_needs_privilege():
    """set by an ordinary user is refused by the broker"""
    with Broker() as broker:
        before = broker.settings()
        result = broker.ptsched("set", "slice=1ms", **as_nobody())
        check_equal(result.status, 1, f"status ({result.text})")
        check("refused" in result.err, f"{result}")
        check_equal(broker.settings(), before, "settings")


@test
def events_of_a_client():
    """events tells attach, grant, release and exit of a client, in this order"""
    with Broker() as broker:
        events = Events(broker.socket)
        check_equal(json.loads(events.first)["event"], "subscribed", "first line")
        with Client(broker.socket) as client:
            client.tell("acquire")
            client.tell("release 1000 1")
        seen = [events.until(kind, client.pid) for kind in ("attach", "grant", "release", "exit")]
        check(all(event["device"] == DEVICES[0] and event["comm"] == "tools-client" for event in seen),
              f"whose events: {seen}")
        check_equal(seen[1]["turn"], seen[2]["turn"], "turn of grant and release")
        check_equal(sorted(seen, key=lambda event: event["time_ns"]), seen, "order")
        check_equal(broker.ptsched("set", "slice=5ms").status, 0, "status of set")
        event = events.next()
        check_equal((event["event"], "pid" in event), ("settings", False), "event of set")
        check_equal(events.finish()[0], 0, "status after SIGINT")


@test
def events_as_text():
    """events --count and --device end and filter; the text has a line per event"""
    with Broker() as broker:
        events = Events(broker.socket, "--count", "2", "--device", "1", as_json=False)
        check_equal(events.first.split()[:3], ["TIME", "DEVICE", "EVENT"], "header")
        with Client(broker.socket), Client(broker.socket, DEVICES[1]) as second:
            second.tell("acquire")
            for kind in ("attach", "grant"):
                check_equal(events.next()[1:4], [DEVICES[1], kind, str(second.pid)], "event")
            status, out, err = events.finish(stop_signal=None)
            check_equal((status, out, err), (0, "", ""), "end after two")
        for count in ("0", "-1", "many"):
            result = broker.ptsched("events", "--count", count)
            check(result.status != 0 and "count" in result.err, f"--count {count}: {result}")


@test
def events_end():
    """events ends with status 0 at SIGTERM, with 1 and the reason when the broker ends"""
    with Broker() as broker:
        check_equal(Events(broker.socket).finish(signal.SIGTERM)[0], 0, "status after SIGTERM")
        events = Events(broker.socket)
        broker.stop()
        status, _, err = events.finish(stop_signal=None)
        check_equal(status, 1, "status")
        check("hung up" in err and broker.socket in err, f"reason: {err}")


@test
def nobody_reads():
    """events and record end at SIGTERM also where nobody reads what they write"""
    with Broker() as broker, FullPipe() as pipe:
        check_equal(pipe.stopped(broker.socket, "events"), (0, ""), "events")
        status, err = pipe.stopped(broker.socket, "record", "-o", "-")
        check(status == 1 and "nobody reads" in err, f"record: status {status}, {err}")


@test
def no_scheduler():
    """without a scheduler, every command that needs one says what to do"""
    for command in (["stat"], ["set", "slice=1ms"], ["events"], ["record"], ["top", "--once"]):
        result = ptsched(*command)
        check_equal(result.status, 1, f"status of {command}")
        check("modprobe ptsched" in result.err and "ptschedd" in result.err, f"{command}: {result}")
    result = ptsched("stat", "--module")
    check(result.status == 1 and "module is not loaded" in result.err, f"--module: {result}")
    result = ptsched("stat", "--broker", "/nonexistent/elsewhere")
    check(result.status == 1 and "/nonexistent/elsewhere" in result.err, f"--broker: {result}")
    result = ptsched("stat", "--broker", "/" + "x" * 200)
    check(result.status == 1 and "too long" in result.err, f"--broker with a long name: {result}")


@test
def forced_broker():
    """--broker PATH is taken instead of the environment's"""
    with Broker() as broker:
        result = ptsched("stat", "--json", "--broker", broker.socket)
        check_equal(result.status, 0, f"status ({result.err})")
        check_equal(json.loads(result.out)["scheduler"]["path"], broker.socket, "path")


def hostile_answers():
    """Packets that are not of the protocol, each as an answer to the first request."""
    header = struct.Struct("=IIiIQII")
    message = struct.pack("=BBH", 1, 1, 0)
    yield b"x"
    yield header.pack(3, 4000, 0, 0, 1, 0, 0)
    yield header.pack(3, 2, 0, 0, 1, 0, 0) + b"ab"
    yield header.pack(3, 4, 0, 0, 1, 0, 0) + message
    # An attribute longer than the message, one shorter than its own header, one of 1 byte.
    for length, kind in ((2000, 2), (1, 2), (5, 2)):
        payload = message + struct.pack("=HHI", length, kind, 0)
        yield header.pack(3, len(payload), 0, 0, 1, 0, 0) + payload
    yield header.pack(3, 4, -34, 0, 1, 0, 0) + message


@test
def hostile_broker():
    """a broker that answers nonsense or hangs up is an error, not a crash"""
    for answer in [None, *hostile_answers()]:
        with tempfile.TemporaryDirectory() as folder:
            path = folder + "/socket"
            with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listener:
                listener.bind(path)
                listener.listen()

                def serve():
                    connection, _ = listener.accept()
                    with connection:
                        connection.recv(4096)
                        if answer:
                            connection.send(answer)

                thread = threading.Thread(target=serve)
                thread.start()
                result = ptsched("stat", "--broker", path)
                thread.join()
            check_equal(result.status, 1, f"status after {answer!r} ({result.text})")
            check(result.err.startswith("ptsched: "), f"after {answer!r}: {result}")


class Stopped:
    """While it lasts, the broker is there and does not answer."""

    def __init__(self, broker):
        self.process = broker.process

    def __enter__(self):
        self.process.send_signal(signal.SIGSTOP)
        return self

    def __exit__(self, *_):
        self.process.send_signal(signal.SIGCONT)


@test
def stopped_broker():
    """a broker that is stopped: no command waits for it without end, and each says what is the matter"""
    with Broker() as broker:
        with Stopped(broker):
            for command in (["stat"], ["set", "slice=1ms"], ["events", "--count", "1"], ["top", "--once"]):
                result = broker.ptsched(*command)
                check_equal(result.status, 1, f"status of {command} ({result.text})")
                for word in (broker.socket, "does not answer", str(broker.process.pid), "is stopped"):
                    check(word in result.err, f"{command} does not say {word}: {result}")
            _, checks = doctor(socket=broker.socket)
            check_equal(checks["broker"]["level"], "problem", f"level of {checks['broker']}")
            check(str(broker.process.pid) in checks["broker"]["finding"] and checks["broker"]["advice"],
                  f"{checks['broker']}")
            check_equal(checks["scheduler"]["level"], "problem", "level of the scheduler")
        check_equal(broker.ptsched("stat").status, 0, "status once it goes on")


@test
def broker_without_queue():
    """a broker that takes no connections any more is not waited for without end, either"""
    with tempfile.TemporaryDirectory() as folder:
        path = folder + "/socket"
        with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listener:
            listener.bind(path)
            listener.listen(0)
            waiting = []
            while True:
                # As many as fit, so that the next one has to wait.
                one = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET | socket.SOCK_NONBLOCK)
                waiting.append(one)
                try:
                    one.connect(path)
                except BlockingIOError:
                    break
            result = ptsched("stat", "--broker", path)
            check_equal(result.status, 1, f"status ({result.text})")
            check("does not answer" in result.err, f"{result}")
            for one in waiting:
                one.close()


@test
def broker_that_sees_nobody():
    """a broker in another pid namespace turns programs away, and says why"""
    namespace = subprocess.run(["unshare", "--pid", "--fork", "true"], capture_output=True, check=False)
    if namespace.returncode:
        print(f"# SKIP: no pid namespace: {namespace.stderr.decode().strip()}")
        return
    with Broker(["unshare", "--pid", "--fork", "--kill-child"]) as broker:
        result = broker.ptsched("stat")
        check_equal(result.status, 1, f"status ({result.text})")
        check("turns this process away" in result.err and "pid namespace" in result.err, f"{result}")
        _, checks = doctor(socket=broker.socket)
        check_equal(checks["broker"]["level"], "problem", f"level of {checks['broker']}")
        check("pid namespace" in checks["broker"]["finding"] and "--pid=host" in checks["broker"]["advice"],
              f"{checks['broker']}")


@test
def output_that_is_full():
    """what cannot be written is an error: every command ends with a message and a status"""
    with Broker() as broker, open("/dev/full", "w", encoding="ascii") as full:
        commands = [[harness.PTSCHED, *words] for words in (
            ["stat"], ["stat", "--json"], ["doctor"], ["doctor", "--json"], ["--help"], ["--version"], ["run", "--help"],
            ["top", "--once", "--interval", "10ms"], ["events", "--count", "1"])]
        commands += [[harness.PTSCHEDD, "--help"], [harness.PTSCHEDD, "--version"]]
        for words in commands:
            run = subprocess.run(words, env=harness.environment(broker.socket), stdin=subprocess.DEVNULL, stdout=full,
                                 stderr=subprocess.PIPE, text=True, check=False)
            check_equal(run.returncode, 1, f"status of {words}")
            # Of what a problem was found in, that is the status.
            check("cannot write to standard output" in run.stderr or "doctor" in words, f"{words}: {run}")


@test
def started_without_streams():
    """started with 0, 1 and 2 closed, nothing of the tools' takes these numbers, and a missing output is an error"""
    with Broker() as broker:
        for words, status in ((["stat"], 1), (["set", "slice=1ms"], 0)):
            run = subprocess.run(["sh", "-c", '"$@" <&- >&- 2>&-', "sh", harness.PTSCHED, *words],
                                 env=harness.environment(broker.socket), check=False)
            check_equal(run.returncode, status, f"status of {words}")
        # The program gets them as they were.
        script = "for n in 0 1 2; do test -e /proc/self/fd/$n && exit 1; done; exit 0"
        run = subprocess.run(["sh", "-c", '"$@" <&- >&- 2>&-', "sh", harness.PTSCHED, "run", "--preload", harness.EMPTY,
                              "--", "sh", "-c", script], env=harness.environment(broker.socket), check=False)
        check_equal(run.returncode, 0, "status of a program that looks at its descriptors")


@test
def broker_without_streams():
    """a broker that is started with 0, 1 and 2 closed has no socket there"""
    with Broker(["sh", "-c", 'exec 3>&2 <&- >&- 2>&-; exec "$@"', "sh"], says_when_ready=False) as broker:
        check_equal(broker.ptsched("stat").status, 0, "status")
        for number in (0, 1, 2):
            check_equal(os.readlink(f"/proc/{broker.process.pid}/fd/{number}"), "/dev/null", f"descriptor {number}")


def doctor(*args, **options):
    result = ptsched("doctor", "--json", *args, **options)
    report = json.loads(result.out)
    check_equal(result.status, 1 if report["problems"] else 0, "status")
    return report, {entry["name"]: entry for entry in report["checks"]}


@test
def doctor_alone():
    """doctor without a scheduler finds that problem and says what to do about it"""
    report, checks = doctor()
    check(report["problems"] >= 1, f"problems: {report}")
    check_equal(checks["scheduler"]["level"], "problem", "level")
    check("modprobe ptsched" in checks["scheduler"]["advice"], f"advice: {checks['scheduler']}")
    for name in ("module", "device node", "broker", "interposer", "GPUs", "libcuda.so.1", "nice", "CPU nice",
                 "kernel features", "RTLD_DEEPBIND"):
        check(name in checks, f"no check of {name}")
    for entry in report["checks"]:
        check(entry["level"] != "problem" or entry["advice"], f"no advice: {entry}")
    text = ptsched("doctor")
    check_equal(text.status, 1, "status")
    check("PROBLEM" in text.out and text.out.rstrip().splitlines()[-1].endswith(("problem", "problems")),
          f"text: {text}")


@test
def doctor_with_a_broker():
    """doctor sees broker, version, devices, the interposer and each client's mechanism"""
    with Broker() as broker, Client(broker.socket) as client:
        _, checks = doctor(socket=broker.socket)
        for name in ("broker", "broker version", "scheduler", "scheduled devices", "interposer"):
            check_equal(checks[name]["level"], "ok", f"level of {checks[name]}")
        check(harness.PRELOAD in checks["interposer"]["finding"], f"{checks['interposer']}")
        check("mechanism gate" in checks[f"process {client.pid}"]["finding"], f"{checks}")
        _, checks = doctor("--preload", harness.CLIENT, socket=broker.socket)
        check_equal(checks["interposer"]["level"], "problem", "another program as the interposer")
        check("cuLaunchKernel" in checks["interposer"]["finding"], f"{checks['interposer']}")


if __name__ == "__main__":
    # A test that hangs is ended by the runner; Ctrl-C is for people.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    sys.exit(harness.run_all())
