"""Ray: a Dataset of URLs in, a Dataset of results out."""

from __future__ import annotations

from typing import Any, Optional

import pandas
from ray.data import Dataset

from .frames import PARTITION, assigned, kept, named, settled
from .pipe import FIELDS


def fetch(
    ds: Dataset, *, url: str = "url", id: Optional[str] = None, partitions: int = 8, shard: Optional[str] = None,
    **options: Any,
) -> Dataset:
    """Fetch the column `url` of every row; each host is fetched by one task.

    partitions: into how many groups hosts are divided. The other parameters are those of `pawl.spark.fetch`.

    A task whose worker died is run again by Ray and answers from what was published.
    """

    def assign(frame: pandas.DataFrame) -> pandas.DataFrame:
        rows = frame.to_dict("records")
        return frame.assign(**{PARTITION: assigned(rows, url, partitions, options.get("program"))})

    def work(frame: pandas.DataFrame) -> pandas.DataFrame:
        frame = frame.sort_values([id, url] if id else [url], kind="stable")
        keep = kept(frame.columns, url, id)
        given = {**options, **named(shard, int(frame[PARTITION].iloc[0]))}
        results = settled(frame.to_dict("records"), url, id, keep, given)
        return pandas.DataFrame(results, columns=[*FIELDS, *keep])

    spread = ds.map_batches(assign, batch_format="pandas")
    return spread.groupby(PARTITION).map_groups(work, batch_format="pandas")
