# SPDX-License-Identifier: MIT
"""The finished cells of a folder, in its cells.json, so that a later call need not measure
them again."""
import json
import os
import subprocess
import time

import json_file
from programs import TOP


class StoreError(Exception):
    pass


def first_line(*words):
    """What a command prints first; None: it cannot be had."""
    try:
        found = subprocess.run(words, capture_output=True, text=True, timeout=30, check=True).stdout.splitlines()
    except (OSError, subprocess.SubprocessError):
        return None
    return found[0].strip() if found else None


def circumstances(quick):
    """What the figures of this call depend on."""
    gpu = first_line("nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader")
    name, _, driver = (gpu or "unknown, unknown").rpartition(", ")
    return {"gpu": name, "driver": driver, "options": "quick" if quick else "full",
            "commit": first_line("git", "-C", TOP, "describe", "--always", "--dirty", "--abbrev=12") or "unknown"}


class Store:
    def __init__(self, folder, now):
        self.path = os.path.join(os.path.abspath(folder), "cells.json")
        self.now = now  # see circumstances()
        self.found = {}
        self.added = set()

    def load(self):
        try:
            with open(self.path, encoding="utf-8") as file:
                found = json.load(file)
            self.found = {name: dict(cell, depends=dict(cell["depends"])) for name, cell in found.items()}
        except FileNotFoundError:
            pass
        except (OSError, ValueError, AttributeError, KeyError, TypeError) as error:
            raise StoreError(f"{self.path} is not what an earlier call wrote ({error!r}): "
                             "remove it, give --fresh, or name another folder with --out") from None

    def get(self, name):
        """A finished cell, if it was measured in circumstances like these."""
        cell = self.found.get(name)
        if not cell or name in self.added:
            return cell
        if self.now["gpu"] == "unknown":
            return None
        alike = all(cell["depends"].get(key) == self.now[key] for key in ("gpu", "driver", "options"))
        return cell if alike else None

    def add(self, name, figures):
        """Keeps a cell, at once."""
        self.found[name] = {"depends": self.now, "taken": time.strftime("%Y-%m-%d %H:%M:%S"), **figures}
        self.added.add(name)
        os.makedirs(os.path.dirname(self.path), exist_ok=True)
        json_file.write(self.path, self.found)
