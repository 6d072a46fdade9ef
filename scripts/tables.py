# SPDX-License-Identifier: MIT
"""What the reports of the demo and of the simulation have in common."""
import subprocess


class ReportError(Exception):
    """Results that are missing or make no sense; the text says which."""


def table_lines(heads, rows):
    """A markdown table that is also readable as text."""
    cells = [heads, *rows]
    widths = [max(len(row[i]) for row in cells) for i in range(len(heads))]
    lines = ["| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths)) + " |"
             for row in cells]
    lines.insert(1, "|" + "|".join("-" * (width + 2) for width in widths) + "|")
    return lines


def gnuplot(script):
    try:
        subprocess.run(["gnuplot"], input=script, text=True, check=True)
    except FileNotFoundError as error:
        raise ReportError("gnuplot is not installed, so there is no picture; run scripts/setup") from error
    except subprocess.CalledProcessError as error:
        raise ReportError(f"gnuplot has failed with status {error.returncode}, so there is no picture") from error
