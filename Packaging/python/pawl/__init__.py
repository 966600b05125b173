"""Pawl, a download engine: the program `pawl` and its path."""

from __future__ import annotations

import os

from ._version import __version__

__all__ = ["__version__", "binary"]


def binary() -> str:
    """Return the path of the program `pawl` in this package."""
    return os.path.join(os.path.dirname(os.path.abspath(__file__)), "bin", "pawl")
