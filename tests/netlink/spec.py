# SPDX-License-Identifier: MIT
"""The specification of the netlink family, with the numbers that it means."""
from pathlib import Path

import yaml

TOP = Path(__file__).resolve().parent.parent.parent
SPEC = "Documentation/netlink/specs/ptsched.yaml"
BYTES = {"u8": 1, "u32": 4, "s32": 4, "u64": 8, "s64": 8}


class Attribute:
    def __init__(self, number, raw):
        self.number = number
        self.name = raw["name"]
        self.type = raw["type"]
        self.checks = raw.get("checks", {})

    @property
    def size(self):
        """In bytes; None: any."""
        return BYTES.get(self.type)

    @property
    def range(self):
        return self.checks.get("min", 0), self.checks.get("max", 256 ** self.size - 1)


class Command:
    """@asks is do, dump or None, for a message that is sent only; @request and @reply are names of attributes."""

    def __init__(self, number, raw):
        self.number = number
        self.name = raw["name"]
        self.asks = next((kind for kind in ("do", "dump") if kind in raw), None)
        message = raw.get(self.asks, {})
        self.request = message.get("request", {}).get("attributes", [])
        self.reply = message.get("reply", raw.get("event", {})).get("attributes", [])


def numbered(entries, start):
    """Pairs of numbers and entries, as the kernel's generator counts."""
    number = start - 1
    for entry in entries:
        entry = {"name": entry} if isinstance(entry, str) else entry
        number = entry.get("value", number + 1)
        yield number, entry


class Spec:
    def __init__(self, text):
        raw = yaml.safe_load(text)
        self.name = raw["name"]
        self.attributes = {entry["name"]: Attribute(number, entry)
                           for number, entry in numbered(raw["attribute-sets"][0]["attributes"], 1)}
        self.commands = {entry["name"]: Command(number, entry)
                         for number, entry in numbered(raw["operations"]["list"], 1)}
        self.enums = {entry["name"]: {value["name"]: number for number, value in
                                      numbered(entry["entries"], entry.get("value-start", 0))}
                      for entry in raw["definitions"] if entry["type"] == "enum"}
        self.constants = {entry["name"]: entry["value"] for entry in raw["definitions"] if entry["type"] == "const"}


def load():
    return Spec((TOP / SPEC).read_text(encoding="utf-8"))
