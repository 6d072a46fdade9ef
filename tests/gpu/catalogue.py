# SPDX-License-Identifier: MIT
"""The programs by name. NAME is the bare program, NAME+pt the same one under ptsched, NAME+mps one that shares the
GPU through MPS, NAME+mps10 one that may use 10 % of its threads there, and NAME+mps+pt one under both."""
import subprocess
import sys

from programs import ProgramError, python

NICE = {"hog19": 19, "hog52": 19, "wide52": 19, "queue": 19, "graphs": 19, "train": 19, "persistent": 19, "equal": 0}

WORK = {
    "hi60": ("--us", "60"), "hi1ms": ("--us", "1000"),
    "frames": ("--us", "5000", "--period-us", "33333.333"), "requests": ("--us", "2000", "--poisson-us", "10000"),
    "hog19": ("--us", "19000", "--depth", "2", "--ticks"),
    "hog52": ("--us", "52000", "--depth", "2", "--ticks"),
    "wide52": ("--us", "52000", "--waves", "52", "--depth", "2", "--ticks"),
    "queue": ("--us", "1000", "--depth", "64", "--ticks"),
    "graphs": ("--us", "1000", "--graph", "20", "--depth", "2", "--ticks"),
    "equal": ("--us", "1000", "--depth", "2", "--ticks"),
    "wake": ("--us", "60", "--think-us", "40000", "--jitter-us", "10000"),
    "interrupt": ("--us", "60", "--think-us", "2500", "--jitter-us", "500", "--ticks"),
    "work": ("--us", "500", "--depth", "3"), "tiny": ("--us", "2", "--depth", "200"),
    "streams": ("--us", "1000", "--depth", "8", "--streams", "4"),
}
SCRIPTS = {
    "infer": ("infer.py",), "infer-graph": ("infer.py", "--graph"), "infer-compiled": ("infer.py", "--compile"),
    "train": ("train.py", "--ticks"), "train-workers": ("train.py", "--workers", "2"), "ranks": ("ranks.py",), "ddp": ("ddp.py",),
    "jax": ("jax_loop.py",), "cupy": ("cupy_loop.py",), "numba": ("numba_loop.py",), "triton": ("triton_loop.py",),
    "small": ("small_ops.py",),
}
JOBS = {  # programs of job.hpp
    "bandwidth": ("bandwidth",), "births": ("births",), "departures": ("departures",),
    "forks": ("forks",), "ipc": ("ipc",),
    "ipc-spin": ("ipc", "--spin"), "launch": ("launch_overhead",),
    "libraries": ("libraries",), "managed": ("managed",), "latches": ("latches",), "blocking": ("blocking",), "persistent": ("persistent",),
}


def kind_of(name):
    """NAME-SUFFIX is one of several alike, unless it has an entry of its own."""
    return name if name in {**WORK, **SCRIPTS, **JOBS} else name.rsplit("-", 1)[0]


def nice_of(name):
    return NICE.get(kind_of(name), -20)


def command(programs, name, *mode):
    """The program's words; @mode: --serve, or --steps N [--json]."""
    kind = kind_of(name)
    if kind in WORK:
        return programs.work(*WORK[kind], *mode)
    if kind in JOBS:
        return [programs.built(JOBS[kind][0]), *JOBS[kind][1:], *mode]
    return python(*SCRIPTS[kind], *mode)


def start(session, names):
    """Starts the programs of these names that do not run yet; returns what went wrong."""
    wanted = []
    for name in names:
        base, *how = name.split("+")
        shares = [word for word in how if word.startswith("mps")]
        extra = session.programs.mps_variables(shares[0]) if shares else None
        wanted.append((name, command(session.programs, base, "--serve"), nice_of(base), "pt" in how, extra))
    return session.start_servers(wanted)


def need(session, names):
    """The same for a step that needs all of them: the first thing that went wrong is raised."""
    for problem in start(session, names):
        raise ProgramError(problem)


def calibrate(session):
    """Measures how long a step of work.cu takes, once, so that all its kernels are alike."""
    programs = session.programs
    status, output, errors = programs.finish(programs.start(programs.work("--calibrate")), 60)
    if status:
        raise ProgramError(f"work --calibrate: status {status}: {errors.strip()}")
    programs.rate = float(output)
    session.say(f"{programs.rate:.1f} dependent steps per us")


def prepare(session):
    """What the programs need to know of this machine."""
    programs = session.programs
    # JAX ends on a flag that it does not know. With it, its choice of kernels is repeatable.
    flags = "--xla_gpu_autotune_level=0"
    probe = programs.start([sys.executable, "-c", "import jax; jax.jit(lambda x: x + 1)(1.0)"],
                           extra={"XLA_FLAGS": flags, "JAX_PLATFORMS": "cpu"})
    calibrate(session)
    try:
        if programs.finish(probe, 60)[0] == 0:
            programs.environment["XLA_FLAGS"] = flags
    except (ProgramError, subprocess.SubprocessError) as error:
        session.say(f"JAX: {error}")
