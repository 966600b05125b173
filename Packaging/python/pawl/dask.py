"""Dask: a Bag of jobs in, a Bag of results out."""

from __future__ import annotations

from typing import Any, Dict, Iterable, Iterator, List, Mapping, Optional, Tuple

from dask.bag import Bag

from .frames import assigned, kept, named, settled

Rows = List[Tuple[int, Mapping[str, Any]]]


def _assign(rows: Iterable[Mapping[str, Any]], url: str, count: int, program: Optional[str]) -> Rows:
    rows = list(rows)
    return list(zip(assigned(rows, url, count, program), rows))


def _work(
    groups: Iterable[Tuple[int, Rows]], url: str, id: Optional[str], shard: Optional[str], options: Mapping[str, Any]
) -> Iterator[Dict[str, Any]]:
    for number, members in groups:
        rows = sorted((row for _, row in members), key=lambda row: (str(row.get(id or url)), str(row[url])))
        keep = kept(rows[0], url, id)
        yield from settled(rows, url, id, keep, {**options, **named(shard, number)})


def fetch(
    bag: Bag, *, url: str = "url", id: Optional[str] = None, partitions: Optional[int] = None,
    shard: Optional[str] = None, **options: Any,
) -> Bag:
    """Fetch the field `url` of every job, a mapping; each host is fetched by one task.

    partitions: into how many groups hosts are divided; the default is the Bag's own number of partitions. The other
    parameters are those of `pawl.spark.fetch`.

    A task whose worker died is run again by Dask and answers from what was published.
    """
    count = partitions or bag.npartitions
    spread = bag.map_partitions(_assign, url, count, options.get("program"))
    groups = spread.groupby(lambda pair: pair[0], npartitions=count)
    return groups.map_partitions(_work, url, id, shard, options)
