# SPDX-License-Identifier: MIT
"""NVIDIA's MPS daemon, with pipes of its own, for as long as its cells are measured."""
import contextlib
import os
import shutil
import signal
import subprocess
import time

from programs import ProgramError, stderr_of, stop

CONTROL = "nvidia-cuda-mps-control"
# Where drivers are unpacked that no package has installed.
FOLDERS = ("/usr/bin", "/usr/local/nvidia/bin", "/usr/local/bin", "/opt/nvidia/bin")


class Daemon:
    def __init__(self, session):
        self.session = session
        folder = os.path.join(session.folder, "mps")
        self.pipes, self.logs = os.path.join(folder, "pipes"), os.path.join(folder, "logs")
        for path in (self.pipes, self.logs):
            os.makedirs(path, exist_ok=True)
        search = os.pathsep.join([os.environ.get("PATH", os.defpath), *FOLDERS])
        self.control = shutil.which(CONTROL, path=search)
        if not self.control:
            raise ProgramError(f"{CONTROL} is neither in PATH nor in {', '.join(FOLDERS)}: "
                               "install the MPS programs of the driver")
        self.variables = {"CUDA_MPS_PIPE_DIRECTORY": self.pipes, "CUDA_MPS_LOG_DIRECTORY": self.logs}
        # It starts a program that lies beside it.
        self.own = {**self.variables, "PATH": os.path.dirname(self.control) + os.pathsep + search}

    def start(self):
        # Not through a pipe: the daemon would keep its end open.
        process = self.session.programs.start([self.control, "-d"], stdout=subprocess.DEVNULL, extra=self.own)
        try:
            status = process.wait(30)
        except subprocess.TimeoutExpired:
            stop(process)
            raise ProgramError(f"{CONTROL} -d does not come back after 30 s") from None
        if status:
            raise ProgramError(f"{CONTROL} -d: status {status}: {stderr_of(process).strip() or self.last_of_log()}")
        self.session.programs.mps = self.variables

    def last_of_log(self):
        try:
            with open(os.path.join(self.logs, "control.log"), encoding="utf-8", errors="replace") as file:
                return " / ".join(file.read().splitlines()[-3:])
        except OSError as error:
            return str(error)

    def tell(self, order):
        """What the daemon answers."""
        done = subprocess.run([self.control], input=order + "\n", capture_output=True, text=True, timeout=30,
                              check=False, env={**self.session.programs.environment, **self.own})
        if done.returncode:
            raise ProgramError(f"{CONTROL}: {order}: status {done.returncode}: {done.stderr.strip()}")
        return done.stdout

    def clients(self):
        """The processes that its servers serve: a program that finds no daemon runs without, and does not say so."""
        found = set()
        for server in self.tell("get_server_list").split():
            if server.isdigit():
                found.update(word for word in self.tell(f"get_client_list {server}").split() if word.isdigit())
        return {int(pid) for pid in found}

    def left(self):
        """The processes that know these pipes: the daemon, its server and their clients."""
        wanted = f"CUDA_MPS_PIPE_DIRECTORY={self.pipes}".encode()
        found = []
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open(f"/proc/{pid}/environ", "rb") as file:
                    if wanted in file.read().split(b"\0"):
                        found.append(int(pid))
            except OSError:
                continue
        return found

    def gone(self, seconds):
        deadline = time.monotonic() + seconds
        while self.left():
            if time.monotonic() > deadline:
                return False
            time.sleep(0.1)
        return True

    def end(self):
        self.session.programs.mps = None
        for name in [name for name in self.session.servers if "+mps" in name]:
            self.session.drop(name)
        asked = "not gone 20 s after quit"
        try:
            self.tell("quit")
        except (ProgramError, OSError, subprocess.SubprocessError) as error:
            asked = str(error)
        quiet = self.gone(20)
        for number in (signal.SIGTERM, signal.SIGKILL):
            if self.gone(0):
                break
            for pid in self.left():
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, number)
            self.gone(5)
        self.session.check("mps: the daemon ends when told to", quiet, asked)
        self.session.check("mps: nothing of it is left", not self.left(), str(self.left()))


@contextlib.contextmanager
def daemon(session):
    """Runs while the body does, and is ended however that ends."""
    found = Daemon(session)
    try:
        found.start()
        yield found
    finally:
        found.end()
