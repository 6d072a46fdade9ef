# SPDX-License-Identifier: MIT
"""Figures of several rounds: the medians and what they were between, as records in a file like that of the samples."""
import json
import math
import statistics

import json_file


class ResultsError(Exception):
    pass


def records_of(path):
    """Those of a file that is there already."""
    try:
        with open(path, encoding="utf-8") as file:
            found = json.load(file)
    except FileNotFoundError:
        return []
    except (OSError, ValueError) as error:
        raise ResultsError(f"{path} cannot be read as JSON ({error}): name another file, or remove it") from None
    if not isinstance(found, list) or not all(isinstance(record, dict) for record in found):
        raise ResultsError(f"{path} has no array of records: name another file, or remove it")
    return found


class Results:
    """Where @path is None there is no file."""

    def __init__(self, path, command):
        self.path, self.command = path, command
        self.found = {}  # name: (values, unit, against, levels)
        if path:
            records_of(path)

    def add(self, name, value, unit, against="", level=None):
        """One round's figure."""
        if value is None or not math.isfinite(value):
            return
        values, _, _, levels = self.found.setdefault(name, ([], unit, against, []))
        values.append(value)
        if level:
            levels.append(level)

    def median(self, name):
        return statistics.median(self.found[name][0]) if name in self.found else None

    def records(self):
        return [{"name": f"encfs/{name}", "value": statistics.median(values), "least": min(values), "most": max(values),
                 "rounds": len(values), "unit": unit, "against": against, "command": self.command,
                 **({"level": " or ".join(sorted(set(levels)))} if levels else {})}
                for name, (values, unit, against, levels) in self.found.items()]

    def write(self):
        """In the place of records with the same names, or behind them."""
        if not self.path or not self.found:
            return
        records = {record.get("name"): record for record in [*records_of(self.path), *self.records()]}
        json_file.write(self.path, list(records.values()))
