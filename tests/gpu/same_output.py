# SPDX-License-Identifier: MIT
"""Unmodified programs of many kinds: the same output under ptsched as without it, alone and
while they are taken off the hardware again and again."""
import json
import os
import time

import catalogue
from checks import complaints, open_log
from programs import ProgramError

# By name: what it is called in the table, and so many steps that every kernel is used.
PROGRAMS = {
    "work": ("long kernels, static runtime", 800), "tiny": ("tiny launches, deep queue", 20000),
    "streams": ("kernels in four streams", 400),
    "bandwidth": ("memory bandwidth", 100), "libraries": ("cuBLAS, cuFFT, cuSPARSE", 300),
    "persistent": ("a persistent kernel", 300), "ipc": ("CUDA IPC, two processes", 300),
    "forks": ("a program that forks", 2), "births": ("streams and contexts come and go", 10),
    "managed": ("managed memory", 50), "latches": ("kernels that wait for the host", 200),
    "blocking": ("blocking streams that wait for each other", 32),
    "departures": ("threads that are cancelled", 50),
    "train": ("PyTorch training", 20), "train-workers": ("PyTorch training, dataloader workers", 20),
    "ranks": ("PyTorch, two ranks with gloo", 10), "infer": ("PyTorch inference, eager", 64),
    "infer-compiled": ("PyTorch inference, compiled", 64), "infer-graph": ("PyTorch inference, CUDA graph", 64),
    "jax": ("JAX", 50), "cupy": ("CuPy", 50), "numba": ("numba-cuda", 30), "triton": ("Triton kernels", 100),
}
QUICK = ("work", "tiny", "ipc", "forks", "births", "infer", "jax")
LEAST = 100  # times that each is taken off
# Many find the program between two kernels.
DEMANDS = 15 * LEAST
INTERRUPT = "interrupt+pt"


def plan(session):
    rows = []
    for number, name in enumerate(QUICK if session.options.quick else PROGRAMS):
        session.step(f"programs/{name}", 8 if number else 60, program, name, rows)
    session.step("programs/table", 0, table, rows)


def scheduled(name):
    return f"same-{name}+pt"


def stats_file(session, name):
    return os.path.join(session.folder, f"{name}.stats")


def start(session, names):
    wanted = [(f"same-{name}", catalogue.command(session.programs, name, "--serve"), 0, False) for name in names]
    wanted += [(scheduled(name), catalogue.command(session.programs, name, "--serve"), 0, True,
                {"PTSCHED_DRAIN_US": "0", "PTSCHED_STATS": stats_file(session, name)}) for name in names]
    for problem in session.start_servers(wanted):
        session.check("programs: starts", False, problem)


def alike(first, second, bitwise):
    if bitwise:
        return first["hash"] == second["hash"]
    return abs(first["value"] - second["value"]) <= 1e-3 * abs(first["value"])


def demands(session):
    """How often the broker has asked for the device at once."""
    return sum(device["PREEMPTS"] for device in session.broker.devices())


def preempted(session, name, ask):
    """Its results while somebody heavier comes and goes, until that has been often enough for certain."""
    found = []
    deadline = time.monotonic() + 12
    before = demands(session)
    with session.running(INTERRUPT):
        while demands(session) - before < DEMANDS and time.monotonic() < deadline:
            found.append(ask(scheduled(name)))
    return found


def taken_off(session, name):
    """How often its processes were; they have ended, and said so."""
    try:
        with open(stats_file(session, name), encoding="utf-8") as file:
            return sum(json.loads(line)["preemptions"] for line in file)
    except FileNotFoundError:
        return 0


def end(session, name):
    """The program's status, having been told to quit."""
    server = session.servers.pop(name)
    server.stop()
    return server.process.returncode


def compare(session, name):
    title, steps = PROGRAMS[name]

    asked = []

    def ask(server):
        asked.append(server)
        try:
            return session.server(server).ask(f"steps {steps}", 60)
        except ProgramError as error:
            entity = session.broker.entity(session.server(server).pid)
            raise ProgramError(f"{error}; in run {asked.count(server)}; {entity}") from None
    bare, again = ask(f"same-{name}"), ask(f"same-{name}")
    end(session, f"same-{name}")
    stable = alike(bare, again, True)
    alone = ask(scheduled(name))
    beside = preempted(session, name, ask)
    log = session.server(scheduled(name))
    status = end(session, scheduled(name))
    times = taken_off(session, name)
    kind = "bitwise" if stable else "within 1e-3, as bare runs differ bitwise"
    session.check(f"programs: {name}: same output alone, {kind}", alike(bare, alone, stable), f"{alone} not {bare}")
    wrong = [found for found in beside if not alike(bare, found, stable)]
    session.check(f"programs: {name}: same output in {len(beside)} runs while taken off, {kind}", beside and not wrong,
                  f"{wrong} not {bare}")
    session.check(f"programs: {name}: taken off at least {LEAST} times", times >= LEAST, str(times))
    session.check(f"programs: {name}: ends with status 0", status == 0, str(status))
    session.check(f"programs: {name}: no complaint", not complaints(open_log(log)), " / ".join(complaints(open_log(log))))
    session.record(f"gpu/programs/{name}/preemptions", times, "times", "", "tests/gpu/run --only programs", "preempt")
    session.say(f"{title}: {'bitwise' if stable else '1e-3'}, {len(beside)} runs, taken off {times} times")
    return [title, "bitwise" if stable else "within 1e-3", "yes" if alike(bare, alone, stable) else "NO",
            "yes" if beside and not wrong else "NO", str(len(beside)), str(times)]


def program(session, name, rows):
    if not rows:
        rows.append(None)
        session.policy("weighted", True)
        # Their start-ups overlap.
        planned = {step.partition("/")[2] for step, *_ in session.plan if step.startswith("programs/")}
        start(session, [name for name in PROGRAMS if name in planned])
    # It is ended where a program before did not come to an end.
    catalogue.start(session, [INTERRUPT])
    try:
        rows.append(compare(session, name))
    finally:
        for server in (f"same-{name}", scheduled(name)):
            session.drop(server)


def table(session, rows):
    session.table("Unmodified programs: the same output as without ptsched?",
                  ["program", "compared", "alone", "while taken off", "runs", "times off"], rows[1:])
