# SPDX-License-Identifier: MIT
"""ptsched run: what the program gets, and what becomes of programs that cannot be run."""
import os
import subprocess
import tempfile
from pathlib import Path

from harness import (BUILD, EMPTY, PRELOAD, Broker, as_nobody, check, check_equal, environment, ptsched,
                     test)


def run(*args, preload=EMPTY, program_environment=None, **options):
    """ptsched run, with a library that works under every sanitizer in the interposer's place."""
    env = environment(PTSCHED_PRELOAD=preload, **(program_environment or {}))
    return ptsched("run", *args, env=env, **options)


def sanitized(library):
    """What needs a sanitizer's functions cannot be preloaded into a program that has none."""
    symbols = subprocess.run(["nm", "-D", "--undefined-only", library], capture_output=True, text=True,
                             check=True).stdout
    return any(name in symbols for name in ("__asan", "__tsan", "__ubsan"))


@test
def status_and_arguments():
    """run passes arguments as they are and the exit status through"""
    for dashes in ([], ["--"]):
        result = run(*dashes, "printf", "[%s]", "a b", "--nice", "", "--", "*")
        check_equal((result.status, result.out), (0, "[a b][--nice][][--][*]"), f"arguments ({result.err})")
        check_equal(run(*dashes, "sh", "-c", "exit 42").status, 42, "status")
        check_equal(run(*dashes, "sh", "-c", "kill -TERM $$").status, -15, "death by a signal")


@test
def preload_is_last():
    """run puts the library behind the others in LD_PRELOAD, which may have to be the first"""
    result = run("sh", "-c", "echo $LD_PRELOAD", program_environment={"LD_PRELOAD": None})
    check_equal(result.out, EMPTY + "\n", "LD_PRELOAD")
    with tempfile.TemporaryDirectory() as folder:
        second = folder + "/second.so"
        os.link(EMPTY, second) if os.stat(folder).st_dev == os.stat(EMPTY).st_dev else \
            Path(second).write_bytes(Path(EMPTY).read_bytes())
        script = "echo $LD_PRELOAD"
        result = run("--preload", second, "sh", "-c", script, program_environment={"LD_PRELOAD": None})
        check_equal(result.out, second + "\n", "--preload before environment")
        env = {"LD_PRELOAD": second}
        if not sanitized(str(BUILD / "bin/ptsched")):
            check_equal(run("sh", "-c", script, program_environment=env).out, f"{second}:{EMPTY}\n", "with another")


@test
def build_tree_interposer():
    """run finds the interposer of the build tree and a program runs with it"""
    if sanitized(PRELOAD):
        script, options = "exit 3", {"preload": EMPTY}
    else:
        script, options = f'test "$LD_PRELOAD" = {PRELOAD} && exit 3', {"preload": None}
    result = run("--", "sh", "-c", script, program_environment={"LD_PRELOAD": None}, **options)
    check_equal(result.status, 3, f"status ({result.err})")


@test
def address_sanitizer():
    """run of programs with the address sanitizer's shared library, which wants to be the first"""
    preload = EMPTY if sanitized(PRELOAD) else PRELOAD
    for program in ("tools-asan", "tools-asan-own"):
        path = str(BUILD / "tests" / program)
        if preload == PRELOAD:
            for given in (None, "detect_leaks=0"):
                result = run(path, preload=preload, program_environment={"ASAN_OPTIONS": given})
                check_equal((result.status, result.out), (0, "address sanitizer\n"), f"{program} ({result.err})")
        # What the user says is not changed.
        result = run(path, preload=preload, program_environment={"ASAN_OPTIONS": "verify_asan_link_order=1"})
        check(result.status != 0 and "does not come first" in result.err, f"{program}: {result}")
    if preload == PRELOAD:
        child = str(BUILD / "tests/tools-asan")
        for script in (child, f"ASAN_OPTIONS=detect_leaks=0 {child}"):
            result = run("sh", "-c", script + "; exit $?", preload=preload, program_environment={"ASAN_OPTIONS": None})
            check_equal((result.status, result.out), (0, "address sanitizer\n"), f"{script} ({result.err})")


@test
def interposer_missing():
    """run without the interposer says where it looked, and does not run the program"""
    result = run("--preload", "/nonexistent/lib.so", "echo", "ran")
    check_equal((result.status, result.out), (125, ""), "outcome")
    check("/nonexistent/lib.so" in result.err and "PTSCHED_PRELOAD" in result.err, f"{result}")
    with tempfile.TemporaryDirectory(prefix="with space") as folder:
        library = folder + "/empty.so"
        Path(library).write_bytes(Path(EMPTY).read_bytes())
        result = run("--preload", library, "echo", "ran")
        check_equal((result.status, result.out), (125, ""), "outcome")
        check("space" in result.err, f"{result}")


@test
def program_missing():
    """run of a program that is not there: status 127"""
    for name in ("/nonexistent/program", "no-such-program-here", "/etc/passwd/x"):
        result = run("--", name)
        check(result.status == 127 or name == "/etc/passwd/x" and result.status == 126, f"{name}: {result}")
        check(name in result.err, f"{name}: {result}")


@test
def program_not_executable():
    """run of a file that cannot be executed: status 126, and why"""
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        plain = Path(folder, "plain")
        plain.write_text("#!/bin/sh\nexit 0\n", encoding="ascii")
        plain.chmod(0o644)
        unreadable = Path(folder, "unreadable")
        unreadable.write_text("#!/bin/sh\nexit 0\n", encoding="ascii")
        unreadable.chmod(0)
        orphan = Path(folder, "orphan")
        orphan.write_text("#!/nonexistent/interpreter\n", encoding="ascii")
        orphan.chmod(0o755)
        for path, reason in ((plain, "execute"), (unreadable, "execute"), (Path(folder), "directory"),
                             (orphan, "/nonexistent/interpreter")):
            result = run("--", str(path))
            check_equal(result.status, 126, f"status of {path.name} ({result.text})")
            check(str(path) in result.err and reason in result.err, f"{path.name}: {result}")


@test
def nothing_to_run():
    """run without a program, or with an option it does not have: status 125"""
    for args in ([], ["--"], ["--nice", "5"], ["--bogus", "true"], [""]):
        result = run(*args)
        check_equal(result.status, 125, f"status of {args} ({result.text})")
        check(result.err.startswith("ptsched: "), f"{args}: {result}")


@test
def nice_is_set():
    """run --nice sets the nice value of the program"""
    result = run("--nice", "7", "--", "nice")
    check_equal((result.status, result.out), (0, "7\n"), "nice")
    for value in ("20", "-21", "soon", "1.5", "+3x"):
        result = run("--nice", value, "--", "echo", "ran")
        check_equal((result.status, result.out), (125, ""), f"outcome of {value}")
        check("nice=" + value in result.err and "-20 to 19" in result.err, f"{value}: {result}")


CPU_SLICE = """
import ctypes, struct
attributes = ctypes.create_string_buffer(48)
ctypes.CDLL(None).syscall(315, 0, attributes, 48, 0)
print(struct.unpack("=IIQiIQQQ", attributes.raw)[5])
"""


@test
def important_programs_have_short_cpu_slices():
    """run --nice below 0 shortens the slice of the CPU where the kernel knows that"""
    own, important, low = (int(run("--nice", nice, "--", "python3", "-c", CPU_SLICE).out) for nice in ("0", "-1", "5"))
    check_equal(low, own, "slice at nice 5")
    # Kernels before 6.12 have no slices of a program's own, and say 0.
    check(important < own if own else important == 0, f"slice at nice -1: {important} ns; at 0: {own} ns")


@test
def nice_without_privilege():
    """run --nice below what the user may have says what is needed"""
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        library = folder + "/empty.so"
        Path(library).write_bytes(Path(EMPTY).read_bytes())
        result = run("--nice", "-20", "echo", "ran", preload=library, **as_nobody())
    check_equal((result.status, result.out), (125, ""), "outcome")
    for word in ("-20", "CAP_SYS_NICE", "RLIMIT_NICE", "40"):
        check(word in result.err, f"no {word} in {result}")


@test
def preload_without_effect():
    """run of a static, musl or setuid program warns that it is not scheduled, and runs it"""
    result = run("--", "/bin/busybox", "true")
    check_equal(result.status, 0, f"status ({result.err})")
    check("statically linked" in result.err and "unscheduled" in result.err, f"{result}")
    check_equal(run("--", "true").err, "", "warnings about a dynamic program")
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        musl = folder + "/musl"
        subprocess.run(["musl-gcc", "-x", "c", "-", "-o", musl], input="int main(void) { return 0; }", text=True,
                       check=True)
        result = run("--", musl)
        check_equal(result.status, 0, f"status ({result.err})")
        check("musl" in result.err and "unscheduled" in result.err, f"{result}")
        program = Path(folder, "true")
        program.write_bytes(Path("/bin/true").read_bytes())
        os.chown(program, 65534, 65534)
        program.chmod(0o4755)
        result = run("--", str(program))
        check_equal(result.status, 0, f"status ({result.err})")
        check("setuid" in result.err, f"{result}")


@test
def paths_are_absolute():
    """run makes paths absolute, since the program may change its folder: options and environment"""
    script = ["sh", "-c", "cd /; echo $PTSCHED_SOCKET $PTSCHED_DEVICE_NODE $PTSCHED_STATS $LD_PRELOAD"]
    with tempfile.TemporaryDirectory() as folder:
        folder = os.path.realpath(folder)
        Path(folder, "empty.so").write_bytes(Path(EMPTY).read_bytes())
        result = run("--broker", "sub/../socket", "--preload", "empty.so", "--", *script, cwd=folder,
                     program_environment={"LD_PRELOAD": None, "PTSCHED_STATS": "stats"})
        check_equal((result.status, result.out),
                    (0, f"{folder}/socket /nonexistent {folder}/stats {folder}/empty.so\n"), f"options ({result.err})")
        env = {"LD_PRELOAD": None, "PTSCHED_SOCKET": "./socket", "PTSCHED_DEVICE_NODE": "node", "PTSCHED_STATS": "stats"}
        result = run("--preload", "empty.so", "--", *script, cwd=folder, program_environment=env)
        check_equal((result.status, result.out),
                    (0, f"{folder}/socket {folder}/node {folder}/stats {folder}/empty.so\n"),
                    f"environment ({result.err})")
        result = run("--broker", "x" * 100, "--", "echo", "ran", cwd=folder)
        check_equal((result.status, result.out), (125, ""), "outcome of a path that is too long for a socket")
        check("too long" in result.err and folder in result.err, f"{result}")


@test
def module_only():
    """run --module keeps the program from a broker, and not from the helper beside the module"""
    script = ["sh", "-c", "echo $PTSCHED_SOCKET"]
    # Whatever can be opened stands for the module.
    for node, socket in (("/dev/null", "/nonexistent/broker.sock"), ("/nonexistent/ptsched", "/nonexistent")):
        result = ptsched("run", "--module", "--", *script,
                         env=dict(environment(PTSCHED_PRELOAD=EMPTY), PTSCHED_DEVICE_NODE=node))
        check_equal((result.status, result.out), (0, socket + "\n"), f"socket with {node} ({result.err})")


@test
def device_becomes_visible():
    """run --device sets CUDA_VISIBLE_DEVICES to the UUID of a number, address or UUID"""
    first, second = (f"GPU-00000000-0000-0000-0000-00000000000{n}" for n in (1, 2))
    script = ["sh", "-c", "echo $CUDA_VISIBLE_DEVICES $PTSCHED_SOCKET"]
    with Broker() as broker:
        for name, uuid in (("0", first), ("ffff:02:00.0", second), (second, second)):
            result = run("--broker", broker.socket, "--device", name, "--", *script)
            check_equal((result.status, result.out), (0, f"{uuid} {broker.socket}\n"), f"{name} ({result.err})")
        result = run("--broker", broker.socket, "--device", "7", "--", *script)
        check_equal((result.status, result.out), (125, ""), "outcome for a device that is not there")
        check("\"7\"" in result.err and "ffff:01:00.0" in result.err, f"{result}")
    result = run("--device", "0000:99:00.0", "--", *script)
    check_equal((result.status, result.out), (125, ""), "outcome without a scheduler")
    check("no scheduler" in result.err, f"{result}")
