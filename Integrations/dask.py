#!/usr/bin/env python3
"""Fetches a list of URLs under Dask: one shard and one task for each group of hosts.

usage: python dask.py JOBS.jsonl RESULTS TO [OPTION=VALUE ...]

JOBS.jsonl has a job a line, as `pawl pipe` reads them, with an `id`. RESULTS becomes a folder of JSON lines. TO is a
folder that all workers share, or s3://bucket/prefix. Options are those of `pawl pipe`: max_size=8M.
The wheel `pawl` must be installed where workers run; DASK_SCHEDULER_ADDRESS in the environment is the cluster's.
"""
import json
import os
import sys

# This file has the engine's name: Python must not find it in place of the engine.
sys.path[:] = [path for path in sys.path if path != __file__.rpartition("/")[0]]

import dask.bag
import pawl.dask
from distributed import Client

if __name__ == "__main__":
    jobs, results, to, *words = sys.argv[1:]
    options = {name: value or True for name, _, value in (word.partition("=") for word in words)}
    client = Client(os.environ.get("DASK_SCHEDULER_ADDRESS"), dashboard_address=None)
    groups = 2 * sum(client.ncores().values())
    table = dask.bag.read_text(jobs, blocksize="1MiB").map(json.loads)
    answers = pawl.dask.fetch(table, id="id", partitions=groups, shard="part-{}", format="tar", to=to, **options)
    answers.map(json.dumps).to_textfiles(results + "/*.jsonl")
    client.close()
