# SPDX-License-Identifier: MIT
"""Cgroups: what they get, and what they have had."""
import errno
import json
import os
import pwd
from decimal import Decimal

from cgroups import cgroups
from fake_scheduler import FakeScheduler, cgroup, user
from harness import Broker, Client, as_nobody, check, check_equal, test
from openmetrics_tests import metrics
from top_tests import Terminal

ME = pwd.getpwuid(os.getuid()).pw_name
# No directory has it.
GONE = 2 ** 63


def rows(text):
    """Those of the table at the end, in words."""
    lines = [line.split() for line in text.splitlines()]
    return lines[lines.index(["DEVICE", "ACCOUNT", "SHARE", "PROCESSES", "GPU", "TIME"]) + 1:]


@test
def accounts_as_a_table():
    """stat --accounts has a row for each user and each cgroup, these by path, each before those in it"""
    with cgroups("/b", "/b-c", "/b/a", "/b\t") as made:
        top, inner, other, innermost, strange = made
        accounts = [cgroup(GONE, SHARE=7), cgroup(other.number), cgroup(innermost.number, PARENT_CGROUP=inner.number),
                    cgroup(inner.number, device=1), cgroup(inner.number, SHARE=250, ENTITIES=3, GPU_NS=1_500_000_000),
                    cgroup(strange.number), cgroup(top.number), user(0, SHARE=40), user(4711, ENTITIES=2)]
        with FakeScheduler(accounts=accounts) as scheduler:
            result = scheduler.ptsched("stat", "--accounts")
            check_equal(result.status, 0, f"status ({result.err})")
            check_equal(rows(result.out),
                        [["0", "user:4711", "100", "2", "0"],
                         ["0", "user:root", "40", "0", "0"],
                         ["0", top.path, "100", "0", "0"],
                         ["0", inner.path, "250", "3", "1.50s"],
                         ["0", innermost.path, "100", "0", "0"],
                         ["0", inner.path + "?", "100", "0", "0"],
                         ["0", other.path, "100", "0", "0"],
                         ["0", f"cgroup:{GONE}", "7", "0", "0"],
                         ["1", inner.path, "100", "0", "0"]], "rows")
            check_equal(scheduler.ptsched("stat", "--accounts", "--device", "1").status, 0, "status")
            check_equal(scheduler.requests("GET_ACCOUNT"), [[{}, []], [{"DEVICE_ID": 1}, []]], "what was asked")


@test
def accounts_as_json():
    """stat --json has the accounts of each device, and the cgroup of each process"""
    with cgroups("/b") as made:
        top, inner = made
        accounts = [user(os.getuid(), device=1, ENTITIES=1), cgroup(top.number, GPU_NS=5),
                    cgroup(inner.number, PARENT_CGROUP=top.number), cgroup(GONE)]
        entities = [{"PID": 1, "CGROUP": inner.number}, {"PID": 2, "CGROUP": GONE}]
        with FakeScheduler(entities, accounts) as scheduler:
            stat = json.loads(scheduler.ptsched("stat", "--json").out)
            rest = {"share": 100, "processes": 0, "gpu_ns": 0}
            check_equal(stat["devices"][0]["accounts"],
                        [{"cgroup": top.path, "id": top.number, "parent": None, **rest, "gpu_ns": 5},
                         {"cgroup": inner.path, "id": inner.number, "parent": top.number, **rest},
                         {"cgroup": None, "id": GONE, "parent": None, **rest}], "accounts")
            check_equal(stat["devices"][1]["accounts"],
                        [{"user": ME, "uid": os.getuid(), **rest, "processes": 1}], "accounts of the other device")
            check_equal([entity["cgroup"] for entity in stat["entities"]], [inner.path, None], "cgroups of processes")


@test
def no_accounts():
    """a scheduler that does not know of accounts has none; another refusal is one"""
    with FakeScheduler([{"UID": os.getuid(), "USER_GPU_NS": 3, "SHARE": 7}]) as scheduler:
        stat = json.loads(scheduler.ptsched("stat", "--json").out)
        check("accounts" not in stat["devices"][0], f"{stat['devices'][0]}")
        for command in (["stat", "--accounts"], ["top", "--once", "--accounts", "--interval", "10ms"]):
            result = scheduler.ptsched(*command)
            check_equal(result.status, 0, f"status of {command} ({result.err})")
            check("no accounts" in result.out, f"{command}: {result}")
        families = metrics(scheduler)
        labels = {"device": "0", "user": ME}
        check_equal([families["ptsched_user_" + name].of(**labels) for name in ("gpu_seconds", "processes", "share")],
                    [Decimal("0.000000003"), 1, 7], "what processes tell of a user")
    with FakeScheduler(accounts=[], refuses={"GET_ACCOUNT": errno.EIO}) as scheduler:
        result = scheduler.ptsched("stat", "--json")
        check_equal(result.status, 1, f"status ({result.err})")
        check("refused by the scheduler" in result.err, f"{result}")


@test
def accounts_as_openmetrics():
    """stat --openmetrics has users and cgroups with their numbers, whatever they are called"""
    name = '/"\\\t'
    with cgroups(name) as made:
        accounts = [user(os.getuid(), ENTITIES=2, GPU_NS=1_500_000_000), cgroup(GONE, device=1, SHARE=9),
                    cgroup(made[1].number, SHARE=250, ENTITIES=3, GPU_NS=2)]
        with FakeScheduler(accounts=accounts) as scheduler:
            families = metrics(scheduler)
            for kind, labels, values in (
                    ("user", {"device": "0", "user": ME, "uid": str(os.getuid())}, [2, 100, Decimal("1.5")]),
                    ("cgroup", {"device": "0", "cgroup": made[0].path + '/"\\?', "id": str(made[1].number)},
                     [3, 250, Decimal("0.000000002")]),
                    ("cgroup", {"device": "1", "cgroup": f"cgroup:{GONE}", "id": str(GONE)}, [0, 9, 0])):
                names = [f"ptsched_{kind}_{name}" for name in ("processes", "share", "gpu_seconds")]
                check_equal([families[name].of(**labels) for name in names], values, f"values of {labels}")
                check_equal([families[name].type for name in names], ["gauge", "gauge", "counter"], "types")


@test
def top_of_accounts():
    """top --accounts, and the key a on a terminal, show users and cgroups"""
    columns = ["DEVICE", "ACCOUNT", "SHARE", "PROCESSES", "GPU", "TIME", "GPU%"]
    with FakeScheduler(accounts=[user(4711, SHARE=7, GPU_NS=10 ** 9)]) as scheduler:
        result = scheduler.ptsched("top", "--once", "--interval", "10ms", "--accounts")
        check_equal(result.status, 0, f"status ({result.err})")
        lines = [line.split() for line in result.out.splitlines()]
        check_equal(lines[-2:], [columns, ["0", "user:4711", "7", "0", "1.00s", "0.0"]], "table")
        terminal = Terminal(scheduler.socket)
        # Once the new has been seen, what is drawn anew shows nothing of the old.
        terminal.until(rb"COMMAND")
        terminal.press(b"a")
        terminal.until(rb"user:4711")
        check(b"COMMAND" not in (picture := terminal.screen()), f"accounts: {picture}")
        terminal.press(b"a")
        terminal.until(rb"COMMAND")
        check(b"user:4711" not in (picture := terminal.screen()), f"processes: {picture}")
        terminal.press(b"q")
        check_equal(terminal.finish(), 0, "status")


@test
def set_passes_the_directory():
    """set --cgroup takes a directory or a path within the hierarchy, and passes the directory to the broker"""
    with cgroups() as made, FakeScheduler() as scheduler:
        for path in (made[0].folder, made[0].path, made[0].path[1:]):
            result = scheduler.ptsched("set", "--cgroup", path, "weight=250")
            check_equal(result.status, 0, f"status with {path} ({result.err})")
        result = scheduler.ptsched("set", "--cgroup", made[0].path, "--device", "1", "weight=1")
        check_equal(result.status, 0, f"status ({result.err})")
        for attributes, passed in scheduler.requests("SET_CGROUP"):
            check_equal(passed, [made[0].number], "inode of what is passed")
            del attributes["CGROUP_FD"]
        check_equal([attributes for attributes, _ in scheduler.requests("SET_CGROUP")],
                    [{"SHARE": 250}] * 3 + [{"SHARE": 1, "DEVICE_ID": 1}], "what is set")


@test
def set_takes_over_a_weight():
    """set --cgroup weight=auto is what cpu.weight says; without that file, an error that says so"""
    with cgroups() as made, FakeScheduler() as scheduler:
        result = scheduler.ptsched("set", "--cgroup", made[0].path, "weight=auto")
        if os.path.exists(made[0].folder + "/cpu.weight"):
            check_equal((result.status, scheduler.requests("SET_CGROUP")[0][0]["SHARE"]), (0, 100), "status, weight")
            return
        check_equal((result.status, scheduler.asked), (2, []), f"status ({result.err}), and what was asked")
        for word in (made[0].path, "cpu.weight", "cgroup.subtree_control"):
            check(word in result.err, f"no {word}: {result}")


@test
def refused_cgroups():
    """set --cgroup refuses what is no cgroup by its name, and says what the scheduler refuses"""
    with FakeScheduler(refuses={"SET_CGROUP": errno.EPERM}) as scheduler:
        for path in ("/proc/self", "/nonexistent", "/etc/passwd"):
            result = scheduler.ptsched("set", "--cgroup", path, "weight=5")
            check_equal((result.status, scheduler.asked), (2, []), f"status ({result.err}), and what was asked")
            check(path in result.err and "cgroup2" in result.err, f"{result}")
        with cgroups() as made:
            result = scheduler.ptsched("set", "--cgroup", made[0].path, "weight=5")
            check_equal(result.status, 1, f"status ({result.err})")
            check("refused by the scheduler" in result.err, f"{result}")


def accounts_of(broker, device=0, **options):
    stat = broker.ptsched("stat", "--json", **options)
    check_equal(stat.status, 0, f"status ({stat.err})")
    return json.loads(stat.out)["devices"][device]["accounts"]


@test
def accounts_of_a_broker():
    """a user has an account on the device where its process is, with what that has used, and others do not see it"""
    with Broker() as broker, Client(broker.socket) as client:
        client.tell("acquire")
        client.tell("release 1234 1")
        check_equal(accounts_of(broker),
                    [{"user": ME, "uid": os.getuid(), "share": 100, "processes": 1, "gpu_ns": 1234}], "accounts")
        check_equal(accounts_of(broker, device=1), [], "accounts of the other device")
        check_equal(accounts_of(broker, **as_nobody()), [], "as another user")
        check_equal(broker.ptsched("set", "--user", ME, "share=7").status, 0, "status")
        check_equal([account["share"] for account in accounts_of(broker)], [7], "share that was set")


@test
def cgroups_of_a_broker():
    """processes in a cgroup are its, and it has the share that was set"""
    with cgroups("/inner") as made, Broker() as broker:
        top, inner = made
        for words in (["grouping=cgroup"], ["--cgroup", inner.path, "weight=250"]):
            result = broker.ptsched("set", *words)
            check_equal(result.status, 0, f"status of {words} ({result.err})")
        with Client(broker.socket) as client:
            with open(inner.folder + "/cgroup.procs", "w", encoding="ascii") as members:
                members.write(str(client.pid))
            client.tell("acquire")
            client.tell("release 1234 1")
            accounts = {account.get("cgroup"): account for account in accounts_of(broker)}
            check_equal(accounts[inner.path],
                        {"cgroup": inner.path, "id": inner.number, "parent": top.number, "share": 250, "processes": 1,
                         "gpu_ns": 1234}, "account")
            check_equal((accounts[top.path]["parent"], accounts[top.path]["gpu_ns"]), (None, 1234), "the one above")
            check_equal(broker.entity(client.pid)["cgroup"], inner.path, "cgroup of the process")
            seen = accounts_of(broker, **as_nobody())
        check_equal([account for account in seen if "cgroup" in account], [], "as another user")


@test
def who_may_set_a_cgroup():
    """who was given the directory above may set a cgroup's share, and not that of the directory itself"""
    with cgroups("/inner") as made, Broker() as broker:
        top, inner = made
        os.chown(top.folder, as_nobody()["user"], -1)
        for cgroup_, status in ((inner, 0), (top, 1)):
            result = broker.ptsched("set", "--cgroup", cgroup_.path, "weight=250", **as_nobody())
            check_equal(result.status, status, f"status of {cgroup_.path} ({result.err})")
        shares = {account["cgroup"]: account["share"] for account in accounts_of(broker)}
        check_equal((shares[inner.path], shares.get(top.path, 100)), (250, 100), "shares")
