"""Spark: a DataFrame of URLs in, a DataFrame of results out."""

from __future__ import annotations

from itertools import islice
from typing import Any, Iterator, List, Optional

import pandas
from pyspark import TaskContext
from pyspark.sql import DataFrame
from pyspark.sql.types import (
    DateType, DecimalType, DoubleType, IntegerType, LongType, StringType, StructField, StructType, TimestampType,
)

from .frames import PARTITION, answers, assigned, kept, named
from .pipe import FIELDS

_TYPES = {"code": IntegerType(), "http": IntegerType(), "bytes": LongType(), "attempts": IntegerType(), "seconds": DoubleType()}


def fetch(
    df: DataFrame, *, url: str = "url", id: Optional[str] = None, partitions: Optional[int] = None,
    shard: Optional[str] = None, **options: Any,
) -> DataFrame:
    """Fetch the column `url` of every row; each host is fetched by one task.

    id: the column of the samples' ids; without it a result's id is that of `pawl pipe`.
    partitions: how many tasks; the default is the DataFrame's own number of partitions.
    shard: makes one shard of each task; `{}` is the task's number.
    options: those of `pawl pipe`, as in `pawl.run`.

    The result is computed each time it is used: write or persist it. Tasks that Spark runs again answer from what was
    published, so that each row has one result.
    """
    # JSON has no such types: these columns are texts in jobs and results.
    texts = [field for field in df.schema.fields if isinstance(field.dataType, (DateType, DecimalType, TimestampType))]
    df = df.withColumns({field.name: df[field.name].cast("string") for field in texts})
    count = partitions or df.rdd.getNumPartitions()
    keep = kept(df.columns, url, id)

    def assign(frames: Iterator[pandas.DataFrame]) -> Iterator[pandas.DataFrame]:
        for frame in frames:
            rows: List[dict] = frame.to_dict("records")
            yield frame.assign(**{PARTITION: assigned(rows, url, count, options.get("program"))})

    def work(frames: Iterator[pandas.DataFrame]) -> Iterator[pandas.DataFrame]:
        task = TaskContext.get()
        given = {**options, **named(shard, task.partitionId() if task else 0)}
        rows = (row for frame in frames for row in frame.to_dict("records"))
        results = answers(rows, url, id, keep, given)
        while batch := list(islice(results, 1000)):
            yield pandas.DataFrame(batch, dtype=object)

    between = StructType([*df.schema.fields, StructField(PARTITION, IntegerType())])
    after = [StructField(name, _TYPES.get(name, StringType())) for name in FIELDS]
    after += [field for field in df.schema.fields if field.name in keep]
    spread = df.mapInPandas(assign, between).repartition(count, PARTITION)
    # A task that runs again must make the same shard: its input has the same order.
    ordered = spread.sortWithinPartitions(*([id] if id else []), url) if shard else spread
    result = ordered.mapInPandas(work, StructType(after))
    return result.withColumns({f.name: result[f.name].cast(f.dataType) for f in texts if f.name in keep})
