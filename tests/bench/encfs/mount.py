# SPDX-License-Identifier: MIT
"""Encrypted folders of the experiments, each mounted by a ptcryptfs of its own as long as they last."""
import contextlib
import os
import shutil
import subprocess
import tempfile

from programs import ProgramError, stop, wait_until

# Seconds until it is mounted: contexts on a GPU take some of them.
MOUNT_S = 60


class Mount:
    """Not there before begin() and ready()."""

    def __init__(self, session, root, name, engine, scheduled):
        self.session, self.name, self.engine, self.scheduled = session, name, engine, scheduled
        self.volume, self.folder, self.passphrase = (os.path.join(root, f"{name}.{what}")
                                                     for what in ("volume", "plain", "passphrase"))
        self.process = None

    @property
    def pid(self):
        return self.process.pid

    def begin(self):
        programs = self.session.programs
        for folder in (self.volume, self.folder):
            os.mkdir(folder)
        with open(self.passphrase, "w", encoding="utf-8") as file:
            file.write("of an experiment\n")
        words = [programs.encrypted, "--passphrase-file", self.passphrase]
        status, _, errors = programs.finish(programs.start([*words, "init", "--memory", "20", self.volume]), 30)
        if status:
            raise ProgramError(f"ptcryptfs init: {errors.strip()}")
        # It finds the broker as the library does, or none.
        extra = {} if self.scheduled else {"PTSCHED_SOCKET": os.path.join(programs.logs, "no-broker")}
        self.process = programs.start([*words, "mount", "--foreground", "--engine", self.engine, self.volume,
                                       self.folder], extra=extra, stdout=subprocess.DEVNULL)

    def ready(self):
        wait_until(lambda: os.path.ismount(self.folder), f"ptcryptfs has not mounted {self.folder}", MOUNT_S, self.process)

    def cpu_seconds(self):
        """What the file system has used: itself, and in the kernel."""
        with open(f"/proc/{self.pid}/stat", encoding="utf-8") as file:
            fields = file.read().rsplit(")", 1)[1].split()
        return [int(ticks) / os.sysconf("SC_CLK_TCK") for ticks in fields[11:13]]

    def end(self):
        """Whatever it is at."""
        if self.process:
            quiet = {"check": False, "capture_output": True, "timeout": 30}
            if os.path.ismount(self.folder) and subprocess.run(["umount", self.folder], **quiet).returncode:
                subprocess.run(["umount", "--lazy", self.folder], **quiet)
            try:
                self.process.wait(10)
            except subprocess.TimeoutExpired:
                stop(self.process)
        # Not by a walk: should it still be mounted, its files are not to be touched.
        with contextlib.suppress(OSError):
            os.rmdir(self.folder)
        shutil.rmtree(self.volume, ignore_errors=True)


@contextlib.contextmanager
def backing_folder(parent, needed):
    """A folder for all of them, in @parent, where @needed bytes are free."""
    try:
        status = os.statvfs(parent)
    except OSError as error:
        raise ProgramError(f"{parent} cannot be used: {error}; name another folder with --folder") from None
    if status.f_bavail * status.f_frsize < needed:
        raise ProgramError(f"{parent} has {status.f_bavail * status.f_frsize >> 20} MiB free, {needed >> 20} MiB are "
                           "needed: name another folder with --folder, or a smaller --size")
    root = tempfile.mkdtemp(prefix="ptcryptfs-bench-", dir=parent)
    try:
        yield root
    finally:
        # What a mount has left, it needs.
        if not any(os.path.ismount(os.path.join(root, name)) for name in os.listdir(root)):
            shutil.rmtree(root, ignore_errors=True)


def kind_of_store(folder):
    """The type of the file system that @folder is in."""
    with open("/proc/self/mountinfo", encoding="utf-8") as file:
        mounts = [(fields[4], fields[fields.index("-") + 1]) for fields in map(str.split, file)]
    real = os.path.realpath(folder)
    inside = [(len(point), kind) for point, kind in mounts if os.path.commonpath([point, real]) == point]
    return max(inside)[1]
