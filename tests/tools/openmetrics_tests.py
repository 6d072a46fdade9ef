# SPDX-License-Identifier: MIT
"""ptsched stat --openmetrics, read strictly: what OpenMetrics 1.0 does not allow is an error."""
import os
import re
import subprocess
import tempfile
from decimal import Decimal
from pathlib import Path

from harness import CLIENT, DEVICES, PTSCHED, Broker, Client, as_nobody, check, check_equal, environment, test

LABEL = re.compile(r'([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\[\\"n])*)"')
SAMPLE = re.compile(r"([a-zA-Z_:][a-zA-Z0-9_:]*)\{(.*)\} (-?[0-9]+(?:\.[0-9]+)?)")


def read_labels(text):
    labels = {}
    at = 0
    while at < len(text):
        check(not at or text[at] == ",", f"labels: {text}")
        found = LABEL.match(text, at + bool(at))
        check(found and found[1] not in labels, f"labels: {text}")
        labels[found[1]] = re.sub(r"\\(.)", lambda escape: {"n": "\n"}.get(escape[1], escape[1]), found[2])
        at = found.end()
    return labels


class Family:
    def __init__(self, name):
        self.name = name
        self.type = self.unit = self.help = None
        self.samples = {}

    def add(self, line):
        found = SAMPLE.fullmatch(line)
        check(found, f"sample: {line}")
        check_equal(found[1], self.name + ("_total" if self.type == "counter" else ""), "name of a sample")
        check(self.type in ("counter", "gauge") and self.help, f"no type or help before {line}")
        check(self.unit or not re.search("_(seconds|bytes)$", self.name), f"no unit before {line}")
        check(self.type == "gauge" or not found[3].startswith("-"), f"negative: {line}")
        key = tuple(sorted(read_labels(found[2]).items()))
        check(key not in self.samples, f"twice: {line}")
        self.samples[key] = Decimal(found[3])

    def of(self, **labels):
        """The value of the sample that has these labels, and perhaps others; None: there is none."""
        found = [value for key, value in self.samples.items() if set(labels.items()) <= set(key)]
        check(len(found) < 2, f"{len(found)} of {labels} in {self.name}")
        return found[0] if found else None


def read(text):
    """Families by name."""
    families = {}
    family = None
    check(text.endswith("\n# EOF\n"), f"no end: {text[-20:]!r}")
    for line in text[:-len("# EOF\n")].splitlines():
        if not line.startswith("#"):
            family.add(line)
            continue
        words = line.split(" ", 3)
        check(len(words) == 4 and words[0] == "#" and words[1] in ("TYPE", "UNIT", "HELP"), f"line: {line}")
        if not family or words[2] != family.name:
            check(words[2] not in families, f"{words[2]} begins twice")
            family = families[words[2]] = Family(words[2])
        check(getattr(family, words[1].lower()) is None and not family.samples, f"{line}: too late, or twice")
        setattr(family, words[1].lower(), words[3])
        check(words[1] != "UNIT" or words[2].endswith("_" + words[3]), f"unit: {line}")
    return families


def metrics(broker, *args, **options):
    result = broker.ptsched("stat", "--openmetrics", *args, **options)
    check_equal(result.status, 0, f"status ({result.err})")
    return read(result.out)


@test
def openmetrics_are_the_counters():
    """stat --openmetrics has the figures of stat --json, of devices and of processes, in seconds"""
    with Broker() as broker, Client(broker.socket) as client:
        client.tell("acquire")
        client.tell("release 1234 3")
        stat = broker.stat()
        families = metrics(broker)
        entity = broker.entity(client.pid)
        for scope, labels, counters in (("device", {"device": "0", "pci": DEVICES[0]}, stat["devices"][0]["counters"]),
                                        ("device", {"device": "1", "pci": DEVICES[1]}, stat["devices"][1]["counters"]),
                                        ("process", {"device": "0", "pid": str(client.pid), "comm": "tools-client",
                                                     "uid": str(os.getuid())}, entity["counters"])):
            names = dict(counters, contended_ns=counters["occupancy_ns"])
            del names["occupancy_ns"]
            for name, value in names.items():
                metric = f"ptsched_{scope}_" + name.replace("_ns", "_seconds")
                if name.endswith("_ns"):
                    value = Decimal(value) / 1_000_000_000
                check_equal((families[metric].type, families[metric].of(**labels)), ("counter", value), metric)
        check_equal(families["ptsched_process_gpu_seconds"].of(pid=str(client.pid)), Decimal("0.000001234"), "GPU time")
        check_equal(families["ptsched_process_weight"].of(pid=str(client.pid)), entity["weight"], "weight")
        check_equal(families["ptsched_device_processes"].of(device="0"), 1, "processes")
        check_equal(families["ptsched_device_slice_seconds"].of(device="1"), Decimal("0.01"), "slice")
        only = metrics(broker, "--device", "1")
        check_equal(only["ptsched_device_processes"].of(device="0"), None, "the other device")
        check_equal(len(only["ptsched_process_weight"].samples), 0, "processes of the other device")


@test
def openmetrics_of_users():
    """a user's GPU time does not fall when a process of its goes"""
    with Broker() as broker, Client(broker.socket) as stays:
        def user():
            families = metrics(broker)
            labels = {"device": "0", "uid": str(os.getuid())}
            return (families["ptsched_user_gpu_seconds"].of(**labels), families["ptsched_user_processes"].of(**labels))

        with Client(broker.socket) as goes:
            for client, gpu_ns in ((stays, 1000), (goes, 2000)):
                client.tell("acquire")
                client.tell(f"release {gpu_ns} 1")
            check_equal(user(), (Decimal("0.000003"), 2), "GPU time of two, and how many they are")
        while broker.entity(goes.pid):
            pass
        check_equal(user(), (Decimal("0.000003"), 1), "after the end of one")
        check_equal(broker.entity(stays.pid)["user_gpu_ns"], 3000, "the same in JSON")


@test
def openmetrics_of_strange_names():
    """whatever a process is called, the page can be read, and other users' processes are not in it"""
    with Broker() as broker, tempfile.TemporaryDirectory() as folder:
        program = os.path.join(os.fsencode(folder), b'a"b\\c\td\xff{}')
        os.symlink(CLIENT, program)
        with Client(broker.socket, program=program) as client:
            families = metrics(broker)
            check_equal(families["ptsched_process_weight"].of(comm='a"b\\c?d\N{REPLACEMENT CHARACTER}{}'),
                        broker.entity(client.pid)["weight"], "weight")
            check_equal(len(metrics(broker, **as_nobody())["ptsched_process_weight"].samples), 0, "as another user")
            check_equal(len(metrics(broker, **as_nobody())["ptsched_user_processes"].samples), 0, "users, as another")


@test
def openmetrics_into_a_file():
    """stat --openmetrics -o replaces a file as a whole, and leaves nothing else"""
    with Broker() as broker, tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "ptsched.prom")
        path.write_text("old", encoding="ascii")
        with path.open(encoding="ascii") as old:
            result = broker.ptsched("stat", "--openmetrics", "-o", str(path))
            check_equal((result.status, result.out), (0, ""), f"outcome ({result.err})")
            check_equal(old.read(), "old", "who had it open")
        check("ptsched_device_turns" in read(path.read_text(encoding="ascii")), "families")
        check_equal((path.stat().st_mode & 0o777, os.listdir(folder)), (0o644, ["ptsched.prom"]), "files")
        limited = subprocess.run(["sh", "-c", 'ulimit -f 1; trap "" XFSZ; exec "$@"', "sh", PTSCHED, "stat", "--openmetrics",
                                  "-o", str(path)], env=environment(broker.socket), capture_output=True, text=True,
                                 check=False)
        check_equal(limited.returncode, 1, f"status with too little room ({limited.stderr})")
        check(str(path) in limited.stderr, f"{limited.stderr}")
        check_equal(os.listdir(folder), ["ptsched.prom"], "files after a failure")
        check("ptsched_device_turns" in read(path.read_text(encoding="ascii")), "what was there before")
        for args, status, word in ((["--openmetrics", "-o", folder + "/none/x"], 1, "/none/x"),
                                   (["-o", str(path)], 2, "--openmetrics"), (["--json", "--openmetrics"], 2, "--json")):
            result = broker.ptsched("stat", *args)
            check_equal(result.status, status, f"status of {args} ({result.err})")
            check(word in result.err, f"{args}: {result}")
