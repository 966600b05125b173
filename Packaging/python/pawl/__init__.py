"""Pawl, a download engine: the program `pawl`, and `pawl pipe` as an iterator.

`pawl.spark`, `pawl.ray` and `pawl.dask` fetch tables of URLs; each needs its engine, this package needs nothing.
"""

from __future__ import annotations

from ._version import __version__
from .pipe import PipeError, binary, partitions, run

__all__ = ["PipeError", "__version__", "binary", "partitions", "run"]
