# SPDX-License-Identifier: MIT
"""Asks the broker and sets it, over its socket (libptsched/client/broker_protocol.h); the
numbers of commands and attributes come from the header of the contract."""
import errno
import os
import re
import socket
import struct

HEADER = struct.Struct("=IIiIQII")  # struct ptsched_broker_header
GENL_HEADER = struct.Struct("=BBH")
ATTRIBUTE = struct.Struct("=HH")
MAX_MESSAGE = 4096
GENL = 3  # PTSCHED_BROKER_GENL
STRINGS = {"DEVICE", "UUID", "COMM"}
SIGNED = {"NICE", "BUDGET_NS"}
WIDTHS = {"POLICY": 4, "DEVICE_ID": 4, "IDLE_SHARING": 1, "MANY": 1, "SLICE_NS": 8, "GRACE_NS": 8}
POLICIES = {"weighted": 0, "literal": 1, "none": 2}


class BrokerError(Exception):
    pass


def numbers(header, enum, prefix):
    """The names and values of an enumeration that counts from 0."""
    body = re.search(r"enum %s \{(.*?)\};" % enum, header, re.S)
    if not body:
        raise BrokerError(f"no enum {enum} in uapi/linux/ptsched.h")
    names = re.findall(r"^\s*%s([A-Z_]+)\s*,?" % prefix, body.group(1), re.M)
    return {name: value for value, name in enumerate(names)}


class Broker:
    def __init__(self, path, top):
        with open(os.path.join(top, "uapi/linux/ptsched.h"), encoding="utf-8") as file:
            header = file.read()
        self.commands = numbers(header, "ptsched_cmd", "PTSCHED_CMD_")
        self.attributes = numbers(header, "ptsched_attr", "PTSCHED_A_")
        self.names = {value: name for name, value in self.attributes.items()}
        self.last_id = 0
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.socket.settimeout(10)
        self.socket.connect(path)

    def close(self):
        self.socket.close()

    def devices(self):
        return self.ask("GET_DEVICE")

    def entities(self):
        return self.ask("GET_ENTITY")

    def entity(self, pid):
        """What the broker knows of a process; None: nothing."""
        for entity in self.entities():
            if entity.get("PID") == pid:
                return entity
        return None

    def set_policy(self, policy, idle_sharing):
        self.ask("SET_DEVICE", POLICY=POLICIES[policy], IDLE_SHARING=int(idle_sharing))

    def ask(self, command, **attributes):
        self.last_id += 1
        payload = GENL_HEADER.pack(self.commands[command], 1, 0)
        payload += b"".join(self.pack(name, value) for name, value in attributes.items())
        self.socket.send(HEADER.pack(GENL, len(payload), 0, 0, self.last_id, 0, 0) + payload)
        found = []
        while True:
            message = self.socket.recv(MAX_MESSAGE)
            if len(message) < HEADER.size:
                raise BrokerError("the broker hung up")
            _, length, result, _, number, _, _ = HEADER.unpack_from(message)
            if number != self.last_id:
                continue
            if result < 0:
                reason = message[HEADER.size + 4:].split(b"\0")[0].decode(errors="replace")
                raise BrokerError(f"{command}: {errno.errorcode.get(-result, result)} {reason}")
            if not length:
                return found
            found.append(self.parse(message[HEADER.size + GENL_HEADER.size:]))

    def pack(self, name, value):
        data = value.to_bytes(WIDTHS[name], "little")
        size = ATTRIBUTE.size + len(data)
        return ATTRIBUTE.pack(size, self.attributes[name]) + data + b"\0" * (-size % 4)

    def parse(self, data):
        found = {}
        while len(data) >= ATTRIBUTE.size:
            size, kind = ATTRIBUTE.unpack_from(data)
            if size < ATTRIBUTE.size:
                raise BrokerError("an attribute shorter than its header")
            name = self.names.get(kind & 0x3fff)
            value = data[ATTRIBUTE.size:size]
            if name in STRINGS:
                found[name] = value.split(b"\0")[0].decode(errors="replace")
            elif name and name != "PAD":
                found[name] = int.from_bytes(value, "little", signed=name in SIGNED)
            data = data[(size + 3) & ~3:]
        return found
