# SPDX-License-Identifier: MIT
"""A broker that tells of whatever devices, entities and accounts a test makes up, and notes what it is asked."""
import errno
import os
import select
import re
import shutil
import socket
import struct
import tempfile
import threading
from pathlib import Path

from harness import DEVICES, check, ptsched

# libptsched/client/broker_protocol.h, and struct ptsched_query
HEADER = struct.Struct("=IIiIQII")
GENL = 3
QUERY = struct.Struct("=IIIIQII")
TYPES = {"u8": "=B", "u32": "=I", "s32": "=i", "u64": "=Q", "s64": "=q"}


def enumeration(name):
    """Of the header: names without their beginning, with numbers and comments."""
    header = Path(__file__).with_name("ptsched.h").read_text(encoding="ascii")
    body = re.search(rf"^enum {name} {{\n(.*?)^}};", header, re.M | re.S).group(1)
    entries = re.findall(r"^\t(?:PTSCHED_(?:CMD|A)_)?(\w+),?(?:\s*/\* (.*) \*/)?$", body, re.M)
    return {entry: (number, comment) for number, (entry, comment) in enumerate(entries)}


COMMANDS = enumeration("ptsched_cmd")
ATTRIBUTES = enumeration("ptsched_attr")


def pack(attributes):
    """Values by the names of attributes."""
    packed = b""
    for name, value in attributes.items():
        number, comment = ATTRIBUTES[name]
        kind = re.match(r"\w+", comment).group()
        data = value.encode() + b"\0" if kind == "string" else struct.pack(TYPES[kind], value)
        packed += struct.pack("=HH", 4 + len(data), number) + data + bytes(-len(data) % 4)
    return packed


def unpack(packed):
    names = {number: name for name, (number, _) in ATTRIBUTES.items()}
    found = {}
    while packed:
        length, number = struct.unpack_from("=HH", packed)
        found[names[number]] = int.from_bytes(packed[4:length], "little")
        packed = packed[length + -length % 4:]
    return found


def message_of(letter, attributes):
    """All that the header marks with the letter; 0 unless it is told."""
    message = {}
    for name, (_, comment) in ATTRIBUTES.items():
        words = comment.split(":")[0].replace(",", "").split()
        if letter in words[1:]:
            message[name] = "" if words[0] == "string" else 0
    return {**message, **attributes}


class FakeScheduler:
    """@entities and @accounts: attributes, by name; @accounts None: it does not know the command. @refuses: an error
    by the name of a command."""

    def __init__(self, entities=(), accounts=None, refuses=None):
        devices = [{"DEVICE_ID": number, "DEVICE": device} for number, device in enumerate(DEVICES)]
        self.answers = {"GET_DEVICE": [message_of("D", device) for device in devices],
                        "GET_ENTITY": [message_of("E", entity) for entity in entities],
                        "GET_ACCOUNT": accounts}
        self.refuses = {**({} if accounts is not None else {"GET_ACCOUNT": errno.EOPNOTSUPP}), **(refuses or {})}
        # Of each: the command, its attributes, and inodes of what was passed with it.
        self.asked = []
        self.ends = False

    def __enter__(self):
        self.folder = tempfile.mkdtemp(prefix="ptsched-tools-")
        self.socket = self.folder + "/socket"
        self.listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.listener.bind(self.socket)
        self.listener.listen()
        self.thread = threading.Thread(target=self.serve)
        self.thread.start()
        return self

    def __exit__(self, *_):
        """Whoever is still connected, since a test has failed, is hung up on."""
        self.ends = True
        self.listener.shutdown(socket.SHUT_RDWR)
        self.thread.join()
        self.listener.close()
        shutil.rmtree(self.folder)

    def ptsched(self, *args, **options):
        return ptsched(*args, socket=self.socket, **options)

    def requests(self, command):
        return [rest for name, *rest in self.asked if name == command]

    def serve(self):
        while True:
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return
            with connection:
                while self.is_asked(connection) and self.answer(connection):
                    pass

    def is_asked(self, connection):
        """False: there will be no more questions that matter."""
        while not self.ends:
            if select.select([connection], [], [], 0.1)[0]:
                return True
        return False

    def answer(self, connection):
        """False: it has hung up."""
        packet, descriptors, _, _ = socket.recv_fds(connection, 4096, 4)
        if not packet:
            return False
        ioctl, _, _, _, number, _, _ = HEADER.unpack_from(packet)
        payload = packet[HEADER.size:]

        def reply(payload=b"", result=0):
            connection.send(HEADER.pack(ioctl, len(payload), result, 0, number, 0, 0) + payload)

        if ioctl != GENL:
            reply(QUERY.pack(QUERY.size, 0, 1, 2, 0, len(DEVICES), 4096))
            return True
        command = {number: name for name, (number, _) in COMMANDS.items()}[payload[0]]
        inodes = [os.fstat(descriptor).st_ino for descriptor in descriptors]
        for descriptor in descriptors:
            os.close(descriptor)
        self.asked.append((command, unpack(payload[4:]), inodes))
        if command in self.refuses:
            reply(result=-self.refuses[command])
            return True
        for answer in self.answers.get(command, ()):
            reply(payload[:4] + pack(answer))
        reply()
        return True


def user(uid, device=0, **more):
    return {"DEVICE_ID": device, "UID": uid, "SHARE": 100, "ENTITIES": 0, "GPU_NS": 0, **more}


def cgroup(number, device=0, **more):
    return {"DEVICE_ID": device, "CGROUP": number, "SHARE": 100, "ENTITIES": 0, "GPU_NS": 0, **more}


check("CGROUP_FD" in ATTRIBUTES and "GET_ACCOUNT" in COMMANDS, "the header was not understood")
