# SPDX-License-Identifier: MIT
"""A trace as "ptsched record" writes it, read back: tracks by the path of their names, with what is on them. The fields'
numbers are written down here a second time, from Perfetto's own files: what is written under another number, or is
anything else, is an error."""
BEGIN, END, INSTANT, COUNTER = range(1, 5)
MONOTONIC, BOOTTIME = 3, 6

# Number: name, and how it is written: an unsigned number, a signed one, text, or a message. A list: several may come.
CLOCK = {1: ("clock_id", "u"), 2: ("timestamp", "u")}
NOTE = {10: ("name", "text"), 4: ("int_value", "s")}
FIELDS = {
    8: ("timestamp", "u"), 58: ("timestamp_clock_id", "u"), 10: ("trusted_packet_sequence_id", "u"),
    13: ("sequence_flags", "u"),
    6: ("clock_snapshot", {1: ("clocks", [CLOCK])}),
    11: ("track_event", {9: ("type", "u"), 11: ("track_uuid", "u"), 23: ("name", "text"), 30: ("counter_value", "s"),
                         4: ("debug_annotations", [NOTE])}),
    60: ("track_descriptor", {1: ("uuid", "u"), 5: ("parent_uuid", "u"), 2: ("name", "text"),
                              8: ("counter", {3: ("unit", "u")})}),
}
DATA = ("clock_snapshot", "track_event", "track_descriptor")


def read_varint(data, at):
    """(value, what is behind it); IndexError at the end of @data"""
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 127) << shift
        at += 1
        shift += 7
        if byte < 128:
            return value, at


def read_message(data, fields):
    message = {name: [] for name, kind in fields.values() if isinstance(kind, list)}
    at = 0
    while at < len(data):
        key, at = read_varint(data, at)
        name, kind = fields[key >> 3]
        value, at = read_varint(data, at)
        if kind in ("u", "s"):
            assert key & 7 == 0, f"{name} is no number"
            message[name] = value - (1 << 64) if kind == "s" and value >> 63 else value
            continue
        assert key & 7 == 2 and at + value <= len(data), f"{name} is too long"
        content, at = data[at:at + value], at + value
        if kind == "text":
            message[name] = content.decode()
        elif isinstance(kind, list):
            message[name].append(read_message(content, kind[0]))
        else:
            message[name] = read_message(content, kind)
    return message


def packets(data):
    """Those that are complete. Each is field 1 of a message that has no end."""
    at = 0
    while at < len(data):
        try:
            assert data[at] == 0x0a, f"no packet begins at {at}"
            length, begin = read_varint(data, at + 1)
        except IndexError:
            return
        if begin + length > len(data):
            return
        packet = read_message(data[begin:begin + length], FIELDS)
        assert sum(name in packet for name in DATA) == 1, f"packet at {at}: {packet}"
        yield packet
        at = begin + length


class Slice:
    def __init__(self, name, begin, depth, notes):
        self.name = name
        self.begin = begin
        self.end = None
        self.depth = depth
        self.notes = notes

    @property
    def ns(self):
        return self.end - self.begin


class Track:
    def __init__(self, name):
        self.name = name
        self.is_counter = False
        self.slices = []  # in the order of their beginnings
        self.instants = []
        self.values = []
        self.open = []

    def add(self, event, when):
        assert (event["type"] == COUNTER) == self.is_counter, f"{event} on {self.name}"
        if event["type"] == BEGIN:
            notes = {note["name"]: note["int_value"] for note in event["debug_annotations"]}
            self.open.append(Slice(event["name"], when, len(self.open), notes))
            self.slices.append(self.open[-1])
        elif event["type"] == END:
            self.open.pop().end = when
        elif event["type"] == INSTANT:
            self.instants.append((event["name"], when))
        else:
            self.values.append((when, event["counter_value"]))

    def total(self, name):
        return sum(one.ns for one in self.slices if one.name == name)


class Trace:
    """What a reader makes of it: events are sorted by their time, and those of the same time as they stand."""

    def __init__(self, data):
        self.tracks = {}
        events = []
        clocks = set()
        for number, packet in enumerate(packets(data)):
            assert number or packet["sequence_flags"] == 1, "no beginning"
            assert packet["trusted_packet_sequence_id"], "no sequence"
            if "clock_snapshot" in packet:
                clocks |= {clock["clock_id"] for clock in packet["clock_snapshot"]["clocks"]}
            elif "track_descriptor" in packet:
                self.add_track(packet["track_descriptor"])
            elif "track_event" in packet:
                assert packet["timestamp_clock_id"] == MONOTONIC and {MONOTONIC, BOOTTIME} <= clocks, "clock"
                assert packet["track_event"]["track_uuid"] in self.tracks, f"unknown track: {packet}"
                events.append(packet)
        for packet in sorted(events, key=lambda packet: packet["timestamp"]):
            self.tracks[packet["track_event"]["track_uuid"]].add(packet["track_event"], packet["timestamp"])

    def add_track(self, descriptor):
        uuid, parent = descriptor["uuid"], descriptor.get("parent_uuid")
        assert uuid and uuid not in self.tracks, f"uuid twice: {descriptor}"
        track = Track((self.tracks[parent].name + "/" if parent else "") + descriptor["name"])
        track.is_counter = "counter" in descriptor
        self.tracks[uuid] = track

    def named(self, name):
        return [track for track in self.tracks.values() if track.name == name]

    def of(self, device, name=None):
        """The track of a device, or of a process on it."""
        wanted = f"GPU {device[0]} ({device[1]})" + (f"/{name}" if name else "")
        found = self.named(wanted)
        assert len(found) == 1, f"{len(found)} of {wanted}: {[track.name for track in self.tracks.values()]}"
        return found[0]

    def unfinished(self):
        return [track.name for track in self.tracks.values() if track.open]
