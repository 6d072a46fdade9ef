# SPDX-License-Identifier: MIT
"""What the tests of a mounted ptcryptfs share: an encrypted folder beside a plain one, and what is to be told."""
import contextlib
import errno
import os
import pathlib
import resource
import select
import subprocess
import sys
import tempfile
import time

TOP = pathlib.Path(__file__).resolve().parents[2]
# Who imports this module finds that one, too.
sys.path.insert(0, str(TOP / "tests/tools"))
from harness import Skip, check, check_equal  # pylint: disable=wrong-import-position

BUILD = TOP / os.environ.get("B", "build")
PTCRYPTFS = str(BUILD / "bin/ptcryptfs")
# include/uapi/linux/capability.h
CAP_SYS_ADMIN = 21
# Seconds for what takes a fraction of one.
PATIENCE = 60
SECTOR = 4096


def run(*words, passphrase="right\n"):
    return subprocess.run([PTCRYPTFS, *words], input=passphrase, capture_output=True, text=True, timeout=PATIENCE,
                          check=False)


def capabilities():
    status = pathlib.Path("/proc/self/status").read_text()
    return int(next(line.split()[1] for line in status.splitlines() if line.startswith("CapEff:")), 16)


class Volume:
    """An encrypted folder, and a plain one beside it."""

    def __init__(self, root):
        if not os.access("/dev/fuse", os.R_OK | os.W_OK):
            raise Skip("/dev/fuse cannot be opened here")
        if not os.geteuid() and not capabilities() >> CAP_SYS_ADMIN & 1:
            raise Skip("root may not mount here")
        self.folder, self.mountpoint, self.plain = (pathlib.Path(root) / name for name in ("volume", "mnt", "plain"))
        for folder in (self.folder, self.mountpoint, self.plain):
            folder.mkdir()
        self.process = None
        made = run("init", str(self.folder), "--memory", "20")
        check_equal(made.returncode, 0, made.stderr)

    def mount(self, *options, environment=None, limits=()):
        """@limits: of resources, and how much it has of each."""
        def limit():
            for which, most in limits:
                resource.setrlimit(which, (most, most))
        # It runs until the end of the mount.
        self.process = subprocess.Popen(  # pylint: disable=consider-using-with
            [PTCRYPTFS, "mount", "--foreground", *options, str(self.folder), str(self.mountpoint)],
            stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env={**os.environ, **(environment or {})},
            preexec_fn=limit, cwd=self.plain)  # pylint: disable=subprocess-popen-preexec-fn
        self.process.stdin.write("right\n")
        self.process.stdin.close()
        self.await_mount()
        check(self.process.poll() is None, f"no mount: {self.process.stderr.read() if self.process.poll() else ''}")

    def await_mount(self):
        """Or the end of who is to mount it."""
        # proc(5): mountinfo is an exceptional condition when something has been mounted since it was opened or polled.
        with open("/proc/self/mountinfo", encoding="utf-8") as mounts:
            end = os.pidfd_open(self.process.pid)
            poller, until = select.poll(), time.monotonic() + PATIENCE
            poller.register(mounts, select.POLLPRI)
            poller.register(end, select.POLLIN)
            try:
                while not os.path.ismount(self.mountpoint) and self.process.poll() is None:
                    left = until - time.monotonic()
                    check(left > 0 and poller.poll(1000 * left), f"not within {PATIENCE} s: a mount")
            finally:
                os.close(end)

    def unmount(self):
        """Its status, and what it has said."""
        subprocess.run(["umount", "--lazy" if self.process.poll() is not None else "--verbose", str(self.mountpoint)],
                       check=False, capture_output=True)
        try:
            self.process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        said = self.process.stderr.read()
        self.process.stderr.close()
        self.process, status = None, self.process.returncode
        return status, said

    def stored(self, name):
        return self.folder / "files" / name


@contextlib.contextmanager
def mounted(*options, root=None):
    with tempfile.TemporaryDirectory(prefix="ptcryptfs-") as folder:
        volume = Volume(root or folder)
        volume.mount(*options)
        try:
            yield volume
        finally:
            if volume.process:
                volume.unmount()


def error_of(function, *arguments):
    try:
        function(*arguments)
    except OSError as error:
        return error.errno
    return 0


def expect(number, function, *arguments, what="the error"):
    check_equal(errno.errorcode.get(error_of(function, *arguments), "none"), errno.errorcode[number], what)


@contextlib.contextmanager
def small_one(kind, options="size=4m"):
    """A file system in memory."""
    if os.geteuid():
        raise Skip("needs root, to mount a small file system")
    with tempfile.TemporaryDirectory(prefix="ptcryptfs-") as small:
        subprocess.run(["mount", "-t", kind, "-o", options, kind, small], check=True)
        try:
            yield small
        finally:
            subprocess.run(["umount", small], check=True)


def one_line(done, *words):
    check_equal(done.returncode, 1, done.stderr)
    check(done.stderr.startswith("ptcryptfs: ") and done.stderr.count("\n") == 1, done.stderr)
    for word in words:
        check(word in done.stderr, f"no {word!r} in {done.stderr!r}")
