# SPDX-License-Identifier: MIT
"""What this driver lets a process do with its own channels (mechanisms.cu), and the level that the interposer finds:
the row for this machine in the table of Documentation/drivers.rst."""
import csv
import io
import os
import re
import time

import catalogue
from programs import TOP, ProgramError, stderr_of
from session import query_gpus

# As in the documentation. Costs are in us, median and largest.
COLUMNS = ("GPU", "driver", "compute groups, channels", "time slice", "slice of 50 us", "channels off", "channels on",
           "pre-emption of the group", "level found")
COMMAND = "tests/gpu/run --only driver"
LEVEL_LINE = re.compile(r": level (\w+)(, by ptschedd)?(?:, since (.*))?$", re.MULTILINE)


def plan(session):
    session.step("driver", 10, driver, 5 if session.options.quick else 20)


def driver(session, times):
    found = session.programs.answer([session.programs.built("mechanisms"), "--times", str(times)])
    check_consistency(session, found)
    level, helped, why = level_found(session)
    # A level rests on all that are below it.
    expected = ("gate" if not found["slice"]["works"] else
                "preempt" if found["off"]["works"] and found["on"]["works"] else "slice")
    session.check("driver: the interposer finds the level that what works allows", level == expected,
                  f"{level} instead of {expected}: {why}")
    record(session, found, times, level)
    switched = "by ptschedd" if helped else "by the program itself"
    row = [found["gpu"], query_gpus("driver_version")[0], f"{found['groups']}, {found['channels']}",
           str(found["slice"]["default_us"]), *(cost(found[name]) for name in ("slice", "off", "on")),
           group_answer(found["group_preempt"]), f"{level}, {switched if level == 'preempt' else 'since ' + why}"]
    session.table(f"What the driver lets a process do with its channels, each {times} times; us, median (largest)",
                  COLUMNS, [row])
    session.say(f"for Documentation/drivers.rst: {csv_line(row)}")


def check_consistency(session, found):
    """That what the program says can be true."""
    session.check("driver: channels are seen being made", found["groups"] and found["channels"], str(found))
    session.check("driver: the kernels' results are right", found["results_right"], str(found))
    for name in ("off", "group_preempt"):
        session.check(f"driver: {name}: nothing completes if it works",
                      not (found[name]["works"] and found[name]["completed_while_off"]), str(found[name]))
    session.check("driver: what can be taken off can be put back", found["on"]["works"] or not found["off"]["works"],
                  str(found["on"]))
    with open(os.path.join(TOP, "Documentation/drivers.rst"), encoding="utf-8") as file:
        session.check("driver: the table in the documentation has these columns", csv_line(COLUMNS) in file.read())


def level_found(session):
    """What the interposer of a program finds out soon: the level, whether ptschedd switches, why it is no better."""
    name = "equal-levels+pt"
    command = catalogue.command(session.programs, "equal", "--serve")
    session.need_servers([(name, command, 0, True, {"PTSCHED_LOG": "debug"})])
    process, lines = session.server(name).process, []
    deadline = time.monotonic() + 4
    with session.running(name):
        # What is in the way of a trial goes away: the last one counts.
        while time.monotonic() < deadline and not (lines and lines[-1][0] == "preempt"):
            time.sleep(0.1)
            lines = LEVEL_LINE.findall(stderr_of(process))
    # What it was asked to write is not to be taken for complaints.
    session.drop(name)
    if not lines:
        raise ProgramError(f"no level was found: {stderr_of(process)}")
    return lines[-1]


def record(session, found, times, level):
    about = f"median of {times}; largest "
    slices, preempted = found["slice"], found["group_preempt"]
    if slices["default_us"]:
        session.record("driver/slice/default_us", slices["default_us"], "us", "the driver's own", COMMAND)
    measured = {"driver/slice/set_us": slices, "driver/off/us": found["off"], "driver/on/us": found["on"],
                "driver/group-preempt/us": preempted}
    for name, one in measured.items():
        if one["works"] or one is preempted and answered(preempted):
            session.record(name, one["us_p50"], "us", f"{about}{one['us_max']:.0f}", COMMAND, level)


def cost(found):
    return f"{found['us_p50']:.0f} ({found['us_max']:.0f})" if found["works"] else f"no: {found['why']}"


def answered(found):
    """Whether the driver did not refuse, whatever became of the group."""
    return found["times"] and not found["status"]


def group_answer(found):
    if not answered(found):
        return f"no: {found['why']}"
    effect = found["why"] or "the group stays off"
    return f"{found['us_p50']:.0f} ({found['us_max']:.0f}); {effect}"


def csv_line(cells):
    text = io.StringIO()
    csv.writer(text, quoting=csv.QUOTE_ALL, lineterminator="").writerow(cells)
    return text.getvalue()
