"""What `pawl.spark`, `pawl.ray` and `pawl.dask` share: rows of a table as jobs, results as rows."""

from __future__ import annotations

import signal
from typing import Any, Dict, Iterable, Iterator, List, Mapping, Optional

from .pipe import FIELDS, PipeError, partitions, plain, run

#: The column that holds a row's partition between the two steps.
PARTITION = "pawl_partition"


def job(row: Mapping[str, Any], url: str, id: Optional[str]) -> Dict[str, Any]:
    """Return the job of a row: its columns, with `url` and `id` from the columns of these names."""
    fields = {name: plain(value) for name, value in row.items() if name != PARTITION and name not in FIELDS}
    fields["url"] = row[url]
    if id is not None:
        fields["id"] = plain(row[id])
    return {name: value for name, value in fields.items() if value is not None}


def assigned(rows: List[Mapping[str, Any]], url: str, count: int, program: Optional[str] = None) -> List[int]:
    """Return the partition of each row."""
    return list(partitions(({"url": row[url]} for row in rows), count, program=program))


def named(shard: Optional[str], partition: int) -> Dict[str, str]:
    """Return the option for a shard of one partition: `{}` in its name is the partition's number."""
    if shard is None:
        return {}
    name = shard.replace("{}", f"{partition:05d}")
    return {"shard": name if name != shard else f"{shard}-{partition:05d}"}


def answers(
    rows: Iterable[Mapping[str, Any]], url: str, id: Optional[str], keep: List[str], options: Mapping[str, Any]
) -> Iterator[Dict[str, Any]]:
    """Fetch the rows' jobs and yield rows of the result: `FIELDS`, then the columns to keep."""
    for result in run((job(row, url, id) for row in rows), **options):
        yield {name: result.get(name) for name in (*FIELDS, *keep)}


def settled(
    rows: List[Mapping[str, Any]], url: str, id: Optional[str], keep: List[str], options: Mapping[str, Any]
) -> List[Dict[str, Any]]:
    """Return all answers, where the engine repeats a task whose worker was killed, but none that raises.

    The kernel may kill the child alone when memory is short: it is started again, and answers from what it published.
    """
    for _ in range(10):
        try:
            return list(answers(rows, url, id, keep, options))
        except PipeError as error:
            if error.code != -signal.SIGKILL:
                raise
    return list(answers(rows, url, id, keep, options))


def kept(columns: Iterable[str], url: str, id: Optional[str]) -> List[str]:
    """Return the columns of the input that stand in the result beside `FIELDS`."""
    return [name for name in columns if name not in (*FIELDS, PARTITION, url, id)]
