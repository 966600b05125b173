#!/usr/bin/env python3
"""Fetches a table of URLs under Spark: one shard and one task for each group of hosts.

usage: spark-submit spark.py JOBS.jsonl RESULTS TO [OPTION=VALUE ...]

JOBS.jsonl has a job a line, as `pawl pipe` reads them, with an `id`. RESULTS becomes a folder of JSON lines. TO is a
folder that all executors share, or s3://bucket/prefix. Options are those of `pawl pipe`: max_size=8M.
The wheel `pawl` must be installed where executors run.
"""
import sys

import pawl.spark
from pyspark.sql import SparkSession

jobs, results, to, *words = sys.argv[1:]
options = {name: value or True for name, _, value in (word.partition("=") for word in words)}
spark = SparkSession.builder.appName("pawl").getOrCreate()
table = spark.read.json(jobs)
# Twice as many tasks as cores, so that one slow host does not hold all others.
tasks = 2 * spark.sparkContext.defaultParallelism
answers = pawl.spark.fetch(table, id="id", partitions=tasks, shard="part-{}", format="tar", to=to, **options)
answers.write.mode("overwrite").json(results)
counts = spark.read.json(results).groupBy("status").count().collect()
print(", ".join(f"{row['count']} {row['status']}" for row in counts), file=sys.stderr)
spark.stop()
