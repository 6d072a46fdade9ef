# SPDX-License-Identifier: MIT
"""Taken off and put back thousands of times, killed while off, and programs that wait for
others which are off."""
import os
import re
import signal
import subprocess
import time

import catalogue
from programs import ProgramError
from same_output import INTERRUPT, demands, stats_file, taken_off

HOG = "endure-hog"


def plan(session):
    quick = session.options.quick
    session.step("endurance/cycles", 5 + (3 if quick else 30), soon, cycles, "hog19", 1000 if quick else 10000)
    # More often than the driver takes calls behind a kernel, of which this has one that never ends.
    session.step("endurance/resident", 5 + 8, soon, cycles, "persistent", 2000)
    session.step("endurance/kills", 10 + (5 if quick else 30), soon, kills, 20 if quick else 100)
    session.step("endurance/spin", 15, spin, 20)
    session.step("endurance/off", 10 + session.options.off_seconds, off, session.options.off_seconds)


def soon(session, function, *arguments):
    """With others let in soon after the important program has nothing to do, so that much happens in short time."""
    session.policy("weighted", True)
    usual = session.broker.devices()[0]["GRACE_NS"]
    session.broker.ask("SET_DEVICE", GRACE_NS=100000)
    try:
        function(session, *arguments)
    finally:
        session.broker.ask("SET_DEVICE", GRACE_NS=usual)


def start_hogs(session, names, program="hog19"):
    """Hogs that are taken off whenever they are in the way."""
    wanted = [(name, catalogue.command(session.programs, program, "--serve"), 19, True,
               {"PTSCHED_DRAIN_US": "0", "PTSCHED_STATS": stats_file(session, name)}) for name in names]
    session.need_servers(wanted)
    catalogue.need(session, [INTERRUPT])
    return [session.server(name) for name in names]


def cycles(session, program, count):
    """A hog, which checks its results at the end, off and on again so many times."""
    [hog] = start_hogs(session, [HOG], program)
    hog.begin()
    done = asked = 0
    while done < count:
        session.in_time()
        before = demands(session)
        session.server(INTERRUPT).ask(f"steps {count // 4}", 120)
        done += demands(session) - before
        asked += count // 4
        if asked > 4 * count:
            break
    result = hog.end()
    session.servers.pop(HOG).stop()
    times = taken_off(session, HOG)
    session.check(f"endurance: {program}: off and on at least {count} times", times >= count, str(times))
    session.check(f"endurance: {program}: every result is right", result and hog.process.returncode == 0,
                  str(hog.process.returncode))
    session.record("gpu/cycles" if program == "hog19" else f"gpu/cycles-{program}", times, "times", "",
                   "tests/gpu/run --only endurance", "preempt")
    session.say(f"{asked} wake-ups, the hog was taken off {times} times and did {result['n']} steps")


def off(session, seconds):
    """A program is stopped with a kernel on the device, which ptschedd takes off for somebody heavier: for so long. Then it
    goes on where it was."""
    session.policy("weighted", True)
    [hog] = start_hogs(session, [HOG])
    hog.begin()
    os.kill(hog.pid, signal.SIGSTOP)
    with session.running(INTERRUPT) as interrupt:
        time.sleep(seconds)
        done = interrupt.ticks[-1][1]
        preempts = session.broker.entity(hog.pid)["PREEMPTS"]
        os.kill(hog.pid, signal.SIGCONT)
    result = hog.end()
    session.servers.pop(HOG).stop()
    session.check("endurance: a stopped program is taken off", preempts > 0 and done > 0, f"{preempts}, {done} wake-ups")
    session.check(f"endurance: stopped and off for {seconds:.0f} s, it goes on with right results",
                  result and hog.process.returncode == 0, str(hog.process.returncode))
    session.record("gpu/off", seconds, "s", "", "tests/gpu/run --only endurance/off", "preempt")


def used_memory_mib():
    query = ["nvidia-smi", "--query-gpu=memory.used", "--format=csv,noheader,nounits"]
    return sum(int(line) for line in subprocess.run(query, capture_output=True, text=True, timeout=30,
                                                    check=True).stdout.split())


def driver_complaints():
    """Lines of the kernel's log in which the driver complains; None: it cannot be read."""
    log = subprocess.run(["dmesg"], capture_output=True, text=True, check=False)
    return None if log.returncode else [line for line in log.stdout.splitlines() if re.search("NVRM|Xid", line)]


def is_off(session, server):
    """It has been made to leave, and waits for its next turn with work unfinished."""
    entity = session.broker.entity(server.pid) or {}
    return entity.get("PREEMPTS", 0) > 0 and entity.get("STATE") == 1


def kills(session, count):
    """Programs are killed while they are off; what they had comes back."""
    start_hogs(session, [])
    batch, killed, memory = 10, 0, []
    complaints = driver_complaints()
    while killed < count:
        session.in_time()
        names = [f"victim-{i}" for i in range(batch)]
        victims = start_hogs(session, names)
        for victim in victims:
            victim.begin()
        with session.running(INTERRUPT):
            deadline = time.monotonic() + 20
            left = list(victims)
            while left and time.monotonic() < deadline:
                for victim in [victim for victim in left if is_off(session, victim)]:
                    victim.process.kill()
                    victim.process.wait()
                    left.remove(victim)
                    killed += 1
                time.sleep(0.01)
        for name in names:
            session.drop(name)
        if left:
            raise ProgramError(f"{len(left)} victims were never off")
        memory.append(used_memory_mib())
    # What the driver keeps for itself it keeps after the first ones already.
    session.check(f"endurance: {killed} programs killed while off: their memory is free", memory[-1] <= memory[0],
                  f"MiB in use after each {batch}: {memory}")
    new = driver_complaints()
    session.check("endurance: no new line of the driver in the kernel's log", new == complaints, str(new))
    session.record("gpu/kills", killed, "times", "", "tests/gpu/run --only endurance", "preempt")


def spin(session, steps):
    """A kernel of one process waits on the device for a flag that a kernel of another sets."""
    session.policy("weighted", True)
    arguments = catalogue.command(session.programs, "ipc-spin", "--serve")
    session.need_servers([("spin", arguments, 0, False), ("spin+pt", arguments, 0, True)])
    bare = session.server("spin").ask(f"steps {steps}", 60)
    before = {device["DEVICE"]: device["FORCED"] + device["PREEMPTS"] for device in session.broker.devices()}
    scheduled = session.server("spin+pt").ask(f"steps {steps}", 120)
    forced = sum(device["FORCED"] + device["PREEMPTS"] - before[device["DEVICE"]] for device in session.broker.devices())
    session.check("endurance: processes that wait for each other on the device finish, with the same result",
                  bare["hash"] == scheduled["hash"], f"{scheduled} not {bare}")
    later = (scheduled["seconds"] - bare["seconds"]) / max(forced, 1)
    session.record("gpu/spin/later-per-forced-share", later, "s", "the same without ptsched",
                   "tests/gpu/run --only endurance", "preempt")
    session.say(f"{steps} rounds: {bare['seconds']:.3f} s bare, {scheduled['seconds']:.3f} s under ptsched, "
                f"{forced} forced shares: {later:.3f} s later for each")
    for name in ("spin", "spin+pt"):
        session.drop(name)
