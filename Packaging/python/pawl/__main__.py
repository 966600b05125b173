"""The command `pawl` of the wheel: replaces this process with the program."""

from __future__ import annotations

import os
import sys

from . import binary


def main() -> None:
    """Run the program with the arguments of this process."""
    path = binary()
    os.execv(path, ["pawl", *sys.argv[1:]])


if __name__ == "__main__":
    main()
