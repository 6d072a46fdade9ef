# SPDX-License-Identifier: MIT
"""What must be true of unmodified programs under ptsched; no time is asserted."""
import glob
import json
import os
import re
import shutil
import subprocess
import sys
import time

import catalogue
from programs import TOP
from session import make


def plan(session):
    session.step("abi", 5, abi)
    session.step("coverage", 2, coverage)
    session.step("broker", 2, broker)
    session.step("stat", 3, stat)
    session.step("errors", 8, errors)
    session.step("unscheduled", 3, unscheduled)
    session.step("compiled", 3, compiled)
    session.step("faults", 15, faults)
    session.step("leaks", 15, leaks)


def result_of(output):
    for line in reversed(output.splitlines()):
        try:
            event = json.loads(line)
        except ValueError:
            continue
        if isinstance(event, dict) and event.get("event") == "result":
            return event
    return None


def complaints(errors_text):
    return [line for line in errors_text.splitlines() if line.startswith("ptsched:")]


def run_work(session, scheduled, extra=None):
    """Some kernels in a process of their own: status, result, stderr."""
    words = catalogue.command(session.programs, "work", "--steps", "800", "--json")
    status, output, text = session.programs.finish(session.programs.start(words, 0, scheduled, extra), 180)
    return status, result_of(output), text


def abi(session):
    """Our copy of the driver's ABI against this machine's cuda.h; it compiles or not."""
    session.check("abi: cuda_abi.h agrees with the toolkit's cuda.h", make(session.options, "gpu-abi").returncode == 0)


def coverage(session):
    """This driver's functions, and those of its toolkit's header: handled or named, every one."""
    found = subprocess.run(["ldconfig", "-p"], capture_output=True, text=True, check=True).stdout
    driver = re.search(r"libcuda\.so\.1 .*=> (\S+)", found)
    words = [sys.executable, os.path.join(TOP, "tests/preload/coverage"), "--build", session.programs.build]
    words += ["--driver", driver[1]] if driver else []
    for header in glob.glob("/usr/local/cuda/include/cuda.h"):
        words += ["--header", header]
    result = subprocess.run(words, capture_output=True, text=True, check=False)
    for line in result.stdout.splitlines():
        if "ok" in line.split()[:2]:
            session.check(f"coverage: {line.split(' - ')[1]}", not line.startswith("not"), result.stdout)
    session.check("coverage: both are here to be looked at", len(words) == 8, " ".join(words))


def broker(session):
    devices = session.start_broker().devices()
    found = {device.get("DEVICE", "").lower() for device in devices}
    folder = "/proc/driver/nvidia/gpus"
    expected = {name.lower() for name in os.listdir(folder)} if os.path.isdir(folder) else set()
    session.check("broker: knows a device", found, "the list is empty")
    session.check("broker: knows the driver's GPUs", expected <= found, f"{expected} are not all in {found}")
    session.policy("weighted", False)
    devices = session.broker.devices()
    session.check("broker: a setting is read back",
                  all(device["POLICY"] == 0 and device["IDLE_SHARING"] == 0 for device in devices), str(devices))
    session.policy("weighted", True)


def charged(session, pid):
    """Waits until GPU time of a program has been reported; a program may do so late."""
    for _ in range(100):
        if (session.broker.entity(pid) or {}).get("GPU_NS", 0) > 0:
            return True
        time.sleep(0.05)
    return False


def stat(session):
    """The broker's statistics show who used the GPU."""
    for problem in catalogue.start(session, ["hi60+pt", "hog19+pt"]):
        session.check("stat: starts", False, problem)
    names = [name for name in session.servers if name.endswith("+pt")]
    for name in ("hi60+pt", "hog19+pt"):
        session.server(name).ask("steps 20", 60)
    for name in names:
        entity = session.broker.entity(session.server(name).pid)
        session.check(f"stat: {name} is an entity", entity is not None, "the broker does not know its pid")
        if entity is None:
            continue
        session.check(f"stat: {name} has used GPU time", charged(session, session.server(name).pid), str(entity))
        session.check(f"stat: {name} has its nice", entity.get("NICE") == catalogue.nice_of(name[:-3]), str(entity))
    if session.programs.tool:
        tool_stat(session, names)


def tool_stat(session, names):
    start = session.programs.start
    status, output, text = session.programs.finish(start([*session.programs.tool, "stat", "--json"]), 20)
    session.check("stat: ptsched stat --json succeeds", status == 0, text)
    if status:
        return
    used = {entity["pid"]: entity["counters"]["gpu_ns"] for entity in json.loads(output)["entities"]}
    for name in names:
        session.check(f"stat: ptsched stat --json shows GPU time of {name}", used.get(session.server(name).pid, 0) > 0,
                      str(used))
    status, _, text = session.programs.finish(start([*session.programs.tool, "top", "--once"]), 20)
    session.check("stat: ptsched top --once succeeds", status == 0, text)


def errors(session):
    """Exit codes and CUDA's errors are the program's own; a death frees the turn."""
    programs = session.programs
    session.policy("weighted", True)
    for what, options in (("its own exit code", ("--steps", "10", "--exit-code", "7")),
                          ("a refused launch", ("--bad-launch",)),
                          ("a bad option", ("--no-such-option",))):
        found = [programs.finish(programs.start(programs.work(*options), 0, scheduled), 30)
                 for scheduled in (False, True)]
        bare, scheduled = [(status, output if "--bad-launch" in options else "") for status, output, _ in found]
        session.check(f"errors: {what}: not success", bare[0] not in (0, None), str(bare))
        session.check(f"errors: {what}: same as without ptsched", bare == scheduled, f"{scheduled} instead of {bare}")
    catalogue.start(session, ["hog52+pt"])
    victim = session.server("hog52+pt")
    victim.begin()
    victim.process.terminate()
    victim.process.wait(20)
    status, result, text = run_work(session, True)
    session.check("errors: a program that dies in its turn leaves the GPU to others", status == 0 and result, text)
    session.check("errors: a dead program is no entity any more", session.broker.entity(victim.pid) is None)
    session.drop("hog52+pt")


def unscheduled(session):
    """Neither module nor broker: one warning, and the program runs."""
    nowhere = {"PTSCHED_SOCKET": os.path.join(session.folder, "nobody.sock")}
    status, result, text = run_work(session, True, nowhere)
    session.check("unscheduled: the program succeeds", status == 0 and result, text)
    session.check("unscheduled: exactly one warning line",
                  len(complaints(text)) == 1 and "unscheduled" in complaints(text)[0], text)


def compiled(session):
    """Kernels that the driver or NVRTC compiles, of CUDA source and of PTX; tasks that call libraries."""
    words = [session.programs.built("compiled_graph"), os.path.join(TOP, "tests/gpu/multiply_add.cu"),
             session.programs.built("multiply_add.ptx")]
    embedded = [session.programs.built("embedded"), session.programs.built("multiply_add.ptx")]
    examples = [(name, [os.path.join(session.programs.build, "samples", name)])
                for name in ("source", "call", "cublas")]
    for name, command in [("graphs", words), ("embedded", embedded), *examples]:
        status, output, text = session.programs.finish(session.programs.start(command, extra=nvrtc()), 60)
        session.check(f"compiled: {name}", status == 0, f"status {status}: {output} {text}")


def nvrtc():
    """Where NVRTC is, if neither the environment nor the dynamic linker knows: with the toolkit."""
    known = subprocess.run(["ldconfig", "-p"], capture_output=True, text=True, check=True).stdout
    found = glob.glob("/usr/local/cuda/lib64/libnvrtc.so")
    if not found or "libnvrtc.so" in known or "PTSCHED_NVRTC" in os.environ:
        return {}
    return {"PTSCHED_NVRTC": found[0]}


def faults(session):
    """A kernel at fault: its graph says which task it was, and other graphs and processes go on."""
    programs = session.programs
    for problem in catalogue.start(session, ["equal+pt"]):
        session.check("faults: starts", False, problem)
    with session.running("equal+pt"):
        for kernel in ("illegal_address", "failed_assertion", "trap"):
            for how in ((), ("lowered",)):
                words = [programs.built("faulty_graph"), programs.built("faults.fatbin"), kernel, *how]
                status, output, text = programs.finish(programs.start(words, 0, True), 60)
                session.check(f"faults: {' '.join((kernel, *how))}", status == 0, f"{output} {text}")
                session.say(output.strip())
    result = session.server("equal+pt").ask("steps 100", 60)
    session.check("faults: another process goes on", result["n"] == 100, str(result))


def leaks(session):
    """A leak checker finds nothing that the interposer took, also once it has tried what can be enforced."""
    programs = session.programs
    tool = shutil.which("compute-sanitizer") or "/usr/local/cuda/bin/compute-sanitizer"
    if not os.path.exists(tool):
        session.say("leaks: skipped: there is no compute-sanitizer")
        return
    words = [tool, "--tool", "memcheck", "--leak-check", "full", "--error-exitcode", "9",
             *catalogue.command(programs, "latches", "--steps", "300")]
    catalogue.start(session, ["hog19+pt"])
    with session.running("hog19+pt"):
        found = [programs.finish(programs.start(words, 0, scheduled, {"PTSCHED_LOG": "debug"}), 90)
                 for scheduled in (False, True)]
    (bare, _, _), (status, output, text) = found
    session.check("leaks: none without ptsched", bare == 0, str(bare))
    session.check("leaks: none under ptsched", status == 0, f"status {status}: {output} {text}")
    session.check("leaks: the level was tried meanwhile", "level " in text, text)


def health(session):
    """At the end of everything."""
    for name in [name for name in session.servers if name.endswith("+pt")]:
        lines = complaints(open_log(session.server(name)))
        session.check(f"health: {name} had no complaint of ptsched", not lines, " / ".join(lines))
    session.check("health: the broker still answers", session.start_broker().devices())
    status, result, text = run_work(session, False)
    session.check("health: the GPU computes right without ptsched", status == 0 and result, text)


def open_log(server):
    with open(server.process.log, encoding="utf-8", errors="replace") as file:
        return file.read()
