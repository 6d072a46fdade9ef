# SPDX-License-Identifier: MIT
"""Files of figures, which others read while they are written."""
import json
import os


def write(path, content):
    """The file is whole at any instant: as it was, or with @content."""
    with open(path + ".new", "w", encoding="utf-8") as file:
        json.dump(content, file, indent=1)
        file.write("\n")
    os.replace(path + ".new", path)
