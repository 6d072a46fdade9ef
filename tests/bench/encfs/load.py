# SPDX-License-Identifier: MIT
"""What clients do, by fio: they read or write files of a folder one block after another, and count."""
import json
import os
import shutil
import time
from typing import NamedTuple

from programs import ProgramError

# Seconds for what fio itself does, and for requests that are under way at the end.
FIO_S = 45


class Load(NamedTuple):
    """What each client of a run does."""
    direction: str  # read or write
    size: int  # bytes of its files together
    block: int  # bytes of a request
    depth: int  # requests under way; so many files has a client, since writes to one are one after another
    seconds: float = 0  # over and over for so long; 0: once
    verify: bool = False  # what was written is read again and compared
    direct: bool = True  # the kernel keeps nothing of what was read: each read is decrypted


class Client(NamedTuple):
    """Of a run, what one has had."""
    bytes_per_second: float
    p50_us: float
    p99_us: float
    bytes: int
    cpu_seconds: float


class Run(NamedTuple):
    clients: list
    begun: float  # CLOCK_MONOTONIC, between which all of them were at work
    ended: float


def require_fio():
    if not shutil.which("fio"):
        raise ProgramError("needs fio (Debian: apt install fio)")


def files_of(prefix, load):
    return [f"{prefix}-{number}" for number in range(load.depth)]


def job_text(logs, folder, load, clients):
    """@clients: (prefix of its files' names, nice)."""
    lines = ["[global]", f"directory={folder}", f"rw={load.direction}", f"bs={load.block}", f"size={load.size}",
             f"direct={int(load.direct)}", f"ioengine={'libaio' if load.direct else 'psync'}",
             f"iodepth={load.depth}", "file_service_type=roundrobin", "fallocate=none",
             # What is there is written over: new pages of memory take longer than what is measured.
             "overwrite=1",
             "lat_percentiles=1", "clat_percentiles=0"]
    if load.seconds:
        lines += ["time_based=1", f"runtime={load.seconds:g}"]
    if load.verify and load.direction == "write":
        lines += ["verify=crc32c", "verify_fatal=1", "verify_state_save=0"]
    for number, (prefix, nice) in enumerate(clients):
        # Its own option takes no -20. What a command prints goes to a file by the job's name.
        lines += [f"[{logs}/client{number}]", f"filename={':'.join(files_of(prefix, load))}",
                  f"exec_prerun=renice -n {nice} -p $PPID"]
    return "\n".join(lines) + "\n"


def client_of(job, direction):
    side = job[direction]
    percentiles = side["lat_ns"]["percentile"]
    busy = (job["usr_cpu"] + job["sys_cpu"]) / 100
    return Client(side["bw_bytes"], percentiles["50.000000"] / 1000, percentiles["99.000000"] / 1000,
                  side["io_bytes"], busy * job["job_runtime"] / 1000)


def run(session, folder, load, clients):
    """All clients at the same time."""
    path = os.path.join(session.folder, "job.fio")
    with open(path, "w", encoding="utf-8") as file:
        file.write(job_text(session.folder, folder, load, clients))
    process = session.programs.start(["fio", "--output-format=json+", path])
    limit = FIO_S + load.seconds if load.seconds else FIO_S + 30
    status, output, errors = session.programs.finish(process, limit)
    ended = time.monotonic()
    begin = output.find("{")
    if status or begin < 0:
        raise ProgramError(f"fio: status {status}: {' / '.join((errors + output).strip().splitlines()[-3:])}")
    jobs = json.loads(output[begin:])["jobs"]
    bad = [job["jobname"] for job in jobs if job["error"] or not job[load.direction]["io_bytes"]]
    if bad:
        raise ProgramError(f"fio: {', '.join(bad)} did nothing, or with errors: {errors.strip()}")
    seconds = min(job[load.direction]["runtime"] for job in jobs) / 1000
    return Run([client_of(job, load.direction) for job in jobs], ended - 0.95 * seconds, ended - 0.05 * seconds)
