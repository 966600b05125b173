#!/usr/bin/env python3
"""Fetches a table of URLs under Ray: one shard and one task for each group of hosts.

usage: python ray.py JOBS.jsonl RESULTS TO [OPTION=VALUE ...]

JOBS.jsonl has a job a line, as `pawl pipe` reads them, with an `id`. RESULTS becomes a folder of JSON lines. TO is a
folder that all nodes share, or s3://bucket/prefix. Options are those of `pawl pipe`: max_size=8M.
The wheel `pawl` must be installed where workers run.
"""
import sys

# This file has the engine's name: Python must not find it in place of the engine.
sys.path[:] = [path for path in sys.path if path != __file__.rpartition("/")[0]]

import pawl.ray
import ray

jobs, results, to, *words = sys.argv[1:]
options = {name: value or True for name, _, value in (word.partition("=") for word in words)}
ray.init(include_dashboard=False)
table = ray.data.read_json(jobs, lines=True)
groups = 2 * int(ray.cluster_resources()["CPU"])
answers = pawl.ray.fetch(table, id="id", partitions=groups, shard="part-{}", format="tar", to=to, **options)
answers.write_json(results)
ray.shutdown()
