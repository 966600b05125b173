#!/usr/bin/env python3
"""Runs the recipes of Integrations under real engines, and kills a worker of each in the middle.

usage: engines.py PAWL [module|spark|ray|dask|slurm|kubernetes|spark-chaos|ray-chaos|dask-chaos ...]

`ENGINE-chaos` kills again and again, until the run has ended: at a random request, one process at random. SEED in the
environment chooses the same requests and kinds of processes again.
"""

from __future__ import annotations

import hashlib
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tarfile
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any, Callable, Dict, Iterable, List, Tuple

ROOT = Path(__file__).resolve().parents[2]
PAWL = str(Path(sys.argv[1]).resolve())
WORK = Path(tempfile.mkdtemp(prefix="pawl-engines-"))

# The package as it is in the wheel.
shutil.copytree(ROOT / "Packaging/python/pawl", WORK / "python/pawl")
(WORK / "python/pawl/_version.py").write_text('__version__ = "0"\n')
sys.path[:0] = [str(WORK / "python"), str(ROOT / "Scripts")]
os.environ["PYTHONPATH"] = str(WORK / "python")
os.environ["PAWL_BINARY"] = PAWL

import pawl  # noqa: E402
import waiting  # noqa: E402
from origin import Origin, content  # noqa: E402

SAMPLES = 600
CHAOS_SAMPLES = 4000
SEED = int(os.environ.get("SEED") or int.from_bytes(os.urandom(4), "big"))
# The origin is on loopback; its robots.txt is obeyed.
OPTIONS: Dict[str, Any] = {"allow_private_addresses": True, "contact": "mailto:tests@example.org"}
WORDS = ["allow_private_addresses", "contact=mailto:tests@example.org"]


def processes(words: str) -> List[int]:
    """Return the processes of this run whose command line contains the text: nothing else is ever killed."""
    found = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit() and int(folder.name) != os.getpid():
            try:
                line = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
                if words in line and os.fsencode(WORK) in (folder / "environ").read_bytes():
                    found.append(int(folder.name))
            except OSError:
                continue
    return found


def parent(process: int) -> int:
    return int(Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[1])


def kill(process: int) -> None:
    print(f"  killed {process}: {Path(f'/proc/{process}/cmdline').read_bytes()[:60]!r}", flush=True)
    os.kill(process, signal.SIGKILL)


def check_results(results: Iterable[Dict[str, Any]], count: int = SAMPLES) -> None:
    results = list(results)
    ids = {int(r["id"]) for r in results}
    assert len(results) == count and ids == set(range(count)), f"{len(results)} results, {len(ids)} different ids"
    bad = [r for r in results if r["status"] not in ("ok", "already")]
    assert not bad, bad[:3]
    for result in results:
        number = int(result["id"])
        assert result["sha256"] == hashlib.sha256(content(number)).hexdigest(), result
        assert result["caption"] == f"number {number}", result


def digests(folder: Path) -> Dict[str, str]:
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and not path.name.startswith(".")
    }


def check_shards(folder: Path, count: int) -> int:
    """Check that each sample is in one shard with its own bytes, and that nothing else is there; return the shards."""
    found: Counter = Counter()
    shards = sorted(folder.glob("*.tar"))
    for path in shards:
        assert path.with_suffix(".jsonl").exists(), f"{path.name} has no manifest"
        with tarfile.open(path) as archive:
            for member in archive:
                if member.name.endswith(".jpg"):
                    number = int(member.name[:-4])
                    found[number] += 1
                    assert archive.extractfile(member).read() == content(number), f"wrong bytes of {number}"
    assert set(found) == set(range(count)) and set(found.values()) == {1}, f"{len(found)} samples, some {max(found.values())} times"
    others = [path.name for path in folder.iterdir() if path.suffix not in (".tar", ".jsonl")]
    assert not others and len(list(folder.iterdir())) == 2 * len(shards), f"beside the shards: {others}"
    return len(shards)


def rows(folder: Path) -> List[Dict[str, Any]]:
    """Return the JSON lines of an engine's parts."""
    paths = [path for path in sorted(folder.rglob("*")) if path.is_file() and path.suffix in (".json", ".jsonl")]
    return [json.loads(line) for path in paths for line in path.read_text().splitlines()]


def run(command: List[str], environment: Dict[str, str]) -> None:
    done = subprocess.run(command, env={**os.environ, **environment}, capture_output=True, text=True)
    assert done.returncode == 0, f"{command[0]}: exit code {done.returncode}\n{done.stderr[-4000:]}"


def compared(
    engine: str, origin: Origin, fetch: Callable[[str, Path, Path], Any], disturb: Callable[[], None]
) -> None:
    """Run the recipe undisturbed, then disturb it in the middle: the same shards, one result a sample."""
    jobs = WORK / "jobs.jsonl"
    jobs.write_text("".join(json.dumps(job) + "\n" for job in origin.jobs(SAMPLES)))
    whole, broken = WORK / engine / "undisturbed", WORK / engine / "killed"
    for folder in (whole, broken):
        folder.mkdir(parents=True)
    origin.at(1 << 60, lambda: None)
    fetch(str(jobs), WORK / engine / "results", whole)
    results = rows(WORK / engine / "results")
    check_results(results)
    requested = sum(origin.requests.values())
    assert requested == SAMPLES, [r for r in results if r["attempts"] != 1 or origin.requests[f"/{r['id']}.jpg"] != 1]
    origin.at(SAMPLES // 4, disturb)
    fetch(str(jobs), WORK / engine / "results-killed", broken)
    assert origin.due is None and origin.failure is None, f"nothing was killed: {origin.failure!r}"
    check_results(rows(WORK / engine / "results-killed"))
    again = sum(origin.requests.values())
    assert digests(whole) == digests(broken), "the shards differ"
    shards = [name for name in digests(whole) if name.endswith(".tar")]
    assert shards, digests(whole)
    print(f"  {len(shards)} shards, {requested} requests undisturbed, {again} with a killed worker", flush=True)


FETCHING = " --format tar "


def kill_worker() -> None:
    """Kill the process that started a `pawl pipe` that fetches."""
    kill(parent(processes(FETCHING)[0]))


class Chaos:
    """Kills one process at random, again and again: each time when some more requests have arrived."""

    def __init__(self, origin: Origin, kinds: List[Callable[[], List[int]]], most: int) -> None:
        self.origin, self.kinds, self.most = origin, kinds, most
        self.dice = random.Random(SEED)
        self.kills: Counter = Counter()

    def arm(self) -> None:
        self.origin.at(self.dice.randrange(1, CHAOS_SAMPLES // 4), self.strike, again=True)

    def strike(self) -> None:
        kind = self.dice.choice(self.kinds)
        found = sorted(kind())
        try:
            if found:
                os.kill(self.dice.choice(found), signal.SIGKILL)
                self.kills[kind.__name__] += 1
        except ProcessLookupError:
            pass  # It has just ended.
        if sum(self.kills.values()) < self.most:
            self.arm()


def pipes() -> List[int]:
    return processes(FETCHING)


def workers() -> List[int]:
    """Return the processes of this run that have started one of `pipes`."""
    found = set()
    for process in pipes():
        try:
            found.add(parent(process))
        except OSError:
            continue
    return sorted(found & set(processes("")))


def survived(
    engine: str, fetch: Callable[[str, Path, Path], Any], kinds: List[Callable[[], List[int]]], most: int = 60
) -> None:
    """Run the recipe undisturbed, then with processes killed until it has ended: the same shards, one result a sample."""
    origin = Origin(hosts=200)
    work = WORK / f"{engine}-chaos"
    jobs, whole, broken = work / "jobs.jsonl", work / "undisturbed", work / "killed"
    for folder in (whole, broken):
        folder.mkdir(parents=True)
    jobs.write_text("".join(json.dumps(job) + "\n" for job in origin.jobs(CHAOS_SAMPLES)))
    fetch(str(jobs), work / "results", whole)
    check_results(rows(work / "results"), CHAOS_SAMPLES)
    shards = check_shards(whole, CHAOS_SAMPLES)
    origin.at(1 << 60, lambda: None)
    chaos = Chaos(origin, kinds, most)
    chaos.arm()
    fetch(str(jobs), work / "results-killed", broken)
    requests = sum(origin.requests.values())
    origin.at(1 << 60, lambda: None)
    assert origin.failure is None and chaos.kills, f"nothing was killed: {origin.failure!r}"
    assert waiting.until_ended(pipes()), "a pawl pipe outlives its parent"
    check_results(rows(work / "results-killed"), CHAOS_SAMPLES)
    assert digests(whole) == digests(broken), "the shards differ"
    check_shards(broken, CHAOS_SAMPLES)
    kills = ", ".join(f"{count} {kind}" for kind, count in sorted(chaos.kills.items()))
    print(f"  {shards} shards of {CHAOS_SAMPLES} samples, {requests} requests; killed: {kills}; seed {SEED}", flush=True)


def module(origin: Origin) -> None:
    folder = WORK / "module"
    check_results(pawl.run(origin.jobs(SAMPLES), to=str(folder), **OPTIONS))
    taken = pawl.run(origin.jobs(SAMPLES), to=str(folder / "early"), **OPTIONS)
    next(iter(taken))
    taken.close()
    assert not processes(str(folder / "early")), "leaving the iterator ends the child"

    # Killed while it writes a line that a pipe does not take as a whole.
    long = ({**job, "caption": "x" * 5000} for job in origin.jobs(SAMPLES))
    taken = pawl.run(long, to=str(folder / "killed"), format="tar", shard="s", **OPTIONS)
    next(iter(taken))
    kill(processes(str(folder / "killed"))[0])
    try:
        list(taken)
        raise AssertionError("a killed run is no success")
    except pawl.PipeError as error:
        assert error.code == -signal.SIGKILL, error

    def failing() -> Iterable[str]:
        yield from (job["url"] for job in origin.jobs(3))
        raise KeyError("the caller's own error")

    try:
        list(pawl.run(failing(), to=str(folder), **OPTIONS))
        raise AssertionError("the error of the jobs is lost")
    except KeyError:
        pass
    try:
        list(pawl.run(["http://127.0.0.1/"], to=str(folder), no_such_option=True))
        raise AssertionError("a bad option is no success")
    except pawl.PipeError as error:
        assert error.code == 28 and "no-such-option" in str(error), error
    numbers = list(pawl.partitions((job["url"] for job in origin.jobs(SAMPLES)), 7))
    assert len(numbers) == SAMPLES and set(numbers) <= set(range(7))
    assert numbers[0] == numbers[20], "one host, one partition"
    lines = "\n".join(job["url"] for job in origin.jobs(2)) + "\n{broken\n"
    done = subprocess.run([PAWL, "pipe", "--partition", "3"], input=lines.encode(), capture_output=True, check=True)
    assert done.stdout.count(b"\n") == 3, done.stdout


def spark_submit(*more: str) -> Tuple[List[str], Dict[str, str]]:
    """Return the command that runs a program on two executors of this machine, and its environment."""
    import pyspark

    home = Path(pyspark.__file__).parent
    (library,) = home.glob("jars/scala-library-2.*.jar")
    environment = {
        "SPARK_HOME": str(home), "SPARK_LOCAL_IP": "127.0.0.1", "PYSPARK_PYTHON": sys.executable,
        "SPARK_SCALA_VERSION": ".".join(library.stem.split("-")[-1].split(".")[:2]),
    }
    settings = ["spark.ui.enabled=false", "spark.python.worker.reuse=false", "spark.sql.adaptive.enabled=false"]
    settings += [f"spark.executorEnv.{name}={os.environ[name]}" for name in ("PYTHONPATH", "PAWL_BINARY")]
    submit = [str(home / "bin/spark-submit"), "--master", "local-cluster[2,1,1024]"]
    return [*submit, *(word for setting in (*settings, *more) for word in ("--conf", setting))], environment


def executors() -> List[int]:
    return processes("CoarseGrainedExecutorBackend --driver-url")


def spark_chaos(_: Origin) -> None:
    # 32 tasks, and engines give up only where their settings say so: Spark's limits are for faults that repeat.
    submit, environment = spark_submit(
        "spark.default.parallelism=16", "spark.task.maxFailures=1000", "spark.stage.maxConsecutiveAttempts=1000",
        "spark.deploy.maxExecutorRetries=-1",
    )

    def fetch(jobs: str, results: Path, to: Path) -> None:
        run([*submit, str(ROOT / "Integrations/spark.py"), jobs, str(results), str(to), *WORDS], environment)

    survived("spark", fetch, [executors, workers, pipes])


def spark(origin: Origin) -> None:
    submit, environment = spark_submit()

    def fetch(jobs: str, results: Path, to: Path) -> None:
        run([*submit, str(ROOT / "Integrations/spark.py"), jobs, str(results), str(to), *WORDS], environment)

    compared("spark", origin, fetch, lambda: kill(executors()[0]))
    # The form without the module.
    program = WORK / "pipe.py"
    program.write_text(
        "import sys\nfrom pyspark import SparkContext\n"
        "context = SparkContext()\nlines = context.textFile(sys.argv[1], 4)\nlines.pipe(sys.argv[2]).saveAsTextFile(sys.argv[3])\n"
    )
    command = f"{PAWL} pipe --to {WORK}/spark-pipe --allow-private-addresses --contact mailto:tests@example.org"
    run([*submit, str(program), str(WORK / "jobs.jsonl"), command, str(WORK / "spark-lines")], environment)
    lines = [line for path in sorted((WORK / "spark-lines").glob("part-*")) for line in path.read_text().splitlines()]
    check_results(json.loads(line) for line in lines)
    # Columns of types that JSON does not have.
    program.write_text(
        "import sys, pawl.spark\nfrom pyspark.sql import SparkSession\n"
        "rows = SparkSession.builder.getOrCreate().read.json(sys.argv[1]).selectExpr(\n"
        "    'url', 'id', \"timestamp '2026-01-02 03:04:05.6' t\", \"date '2026-01-02' d\", 'cast(1.50 as decimal(9, 2)) n')\n"
        "found = pawl.spark.fetch(rows, id='id', contact='mailto:tests@example.org', allow_private_addresses=True)\n"
        "found = {(r.status, r.t.microsecond, r.d.day, str(r.n)) for r in found.collect()}\n"
        "assert found == {('ok', 600000, 2, '1.50')}, found\n"
    )
    run([*submit, str(program), str(WORK / "jobs.jsonl")], environment)


def recipe(name: str, environment: Dict[str, str] = {}) -> Callable[[str, Path, Path], None]:
    def fetch(jobs: str, results: Path, to: Path) -> None:
        run([sys.executable, str(ROOT / "Integrations" / name), jobs, str(results), str(to), *WORDS], environment)

    return fetch


def ray(origin: Origin) -> None:
    compared("ray", origin, recipe("ray.py"), kill_worker)


def ray_chaos(_: Origin) -> None:
    # By default a task is given up when its fourth worker has died.
    survived("ray", recipe("ray.py", {"RAY_TASK_MAX_RETRIES": "-1"}), [workers, pipes])


def dask(origin: Origin) -> None:
    compared("dask", origin, recipe("dask.py"), kill_worker)


def dask_chaos(_: Origin) -> None:
    # A task is blamed for each worker that dies while it has it.
    survived("dask", recipe("dask.py", {"DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES": "1000"}), [workers, pipes])


def slurm(origin: Origin) -> None:
    from slurm import Slurm

    with Slurm(WORK / "cluster") as cluster:

        def fetch(jobs: str, results: Path, to: Path) -> None:
            table = WORK / "jobs.tsv"
            with open(jobs, "rb") as lines, open(table, "wb") as output:
                subprocess.run([PAWL, "pipe", "--partition", "4"], stdin=lines, stdout=output, check=True)
            recipe = [str(ROOT / "Integrations/slurm.sh"), str(table), str(to)]
            words = ["--allow-private-addresses", "--contact", "mailto:tests@example.org"]
            log = WORK / "slurm.log"
            cluster.run("sbatch", "--wait", "--array=0-3", f"--output={log}", "--open-mode=append", *recipe, *words)
            results.symlink_to(to)

        def requeue() -> None:
            running = cluster.run("squeue", "--noheader", "--array", "--states=R", "--format=%A").split()
            print(f"  requeued {running[0]}", flush=True)
            cluster.run("scontrol", "requeue", running[0])

        compared("slurm", origin, fetch, requeue)


def kubernetes(_: Origin) -> None:
    import kubernetes_validate
    import yaml

    (manifest,) = yaml.safe_load_all((ROOT / "Integrations/kubernetes.yaml").read_text())
    kubernetes_validate.validate(manifest, "1.33", strict=True)


ENGINES: Dict[str, Callable[[Origin], None]] = {
    "module": module, "spark": spark, "ray": ray, "dask": dask, "slurm": slurm, "kubernetes": kubernetes,
    "spark-chaos": spark_chaos, "ray-chaos": ray_chaos, "dask-chaos": dask_chaos,
}


def main() -> None:
    origin = Origin()
    failed = []
    for name in sys.argv[2:] or list(ENGINES):
        began = time.monotonic()
        print(name, flush=True)
        try:
            ENGINES[name](origin)
            print(f"  passed in {time.monotonic() - began:.0f} s", flush=True)
        except BaseException:
            import traceback

            traceback.print_exc()
            failed.append(name)
    shutil.rmtree(WORK, ignore_errors=True)
    if failed:
        sys.exit(f"engines: failed: {' '.join(failed)}")


if __name__ == "__main__":
    main()
