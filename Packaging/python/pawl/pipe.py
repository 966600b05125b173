"""`pawl pipe` as an iterator: jobs in, results out, one child process."""

from __future__ import annotations

import json
import math
import os
import subprocess
import tempfile
import threading
from typing import Any, Dict, IO, Iterable, Iterator, List, Mapping, Optional, Sequence, Tuple, Union

Job = Union[str, Mapping[str, Any]]
Result = Dict[str, Any]

#: Follows the last job: a child whose parent is killed sees the end of its input, but not this.
_END = "end-of-jobs"

#: The fields that `pawl pipe` writes, in its order. A job's own fields follow them.
FIELDS: Tuple[str, ...] = (
    "id", "url", "status", "code", "reason", "http", "bytes", "sha256", "key", "type", "finalURL", "attempts", "seconds",
)


def binary() -> str:
    """Return the path of the program: `PAWL_BINARY` in the environment, else the one in this package."""
    return os.environ.get("PAWL_BINARY") or os.path.join(os.path.dirname(os.path.abspath(__file__)), "bin", "pawl")


class PipeError(RuntimeError):
    """The run ended before every job had its result.

    code: the exit code of `pawl pipe`, negative for a signal.
    """

    def __init__(self, code: int, message: str) -> None:
        super().__init__(f"pawl pipe ended with exit code {code}: {message}")
        self.code = code


def plain(value: Any) -> Any:
    """Return a value of numpy, pandas or datetime as JSON has it; NaN is null."""
    if hasattr(value, "isoformat"):
        return None if value != value else value.isoformat()
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    return value


def line(job: Job) -> bytes:
    """Return the line of a job."""
    job = {"url": job} if isinstance(job, str) else plain(job)
    return json.dumps(job, allow_nan=False, separators=(",", ":")).encode() + b"\n"


def arguments(options: Mapping[str, Any]) -> List[str]:
    """Return command-line options: `max_size="8M"` is `--max-size 8M`, `True` a flag, a list one option for each item."""
    words: List[str] = []
    for name, value in options.items():
        option = "--" + name.rstrip("_").replace("_", "-")
        if value is None or value is False:
            continue
        if value is True:
            words.append(option)
            continue
        for item in value if isinstance(value, (list, tuple)) else [value]:
            words += [option, str(item)]
    return words


class _Child:
    """One `pawl pipe`, which is fed by a thread of its own: the child reads only as fast as it works."""

    def __init__(self, jobs: Iterable[Job], words: Sequence[str], program: Optional[str]) -> None:
        self.given = 0
        self.failure: Optional[BaseException] = None
        self.messages: IO[bytes] = tempfile.TemporaryFile()
        self.process = subprocess.Popen(
            [program or binary(), "pipe", "--end", _END, *words],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.messages,
        )
        self.feeder = threading.Thread(target=self._feed, args=(jobs,), daemon=True)
        self.feeder.start()

    def _feed(self, jobs: Iterable[Job]) -> None:
        stdin = self.process.stdin
        assert stdin is not None
        try:
            with stdin:
                for job in jobs:
                    text = line(job)
                    self.given += 1
                    stdin.write(text)
                stdin.write(_END.encode() + b"\n")
        except BrokenPipeError:
            pass  # The exit code tells why.
        except BaseException as error:  # The caller's: raised where the results are read.
            self.failure = error
            self.process.terminate()

    def lines(self) -> Iterator[bytes]:
        assert self.process.stdout is not None
        # A child that is killed may leave its last line cut off.
        return (text for text in self.process.stdout if text.endswith(b"\n"))

    def finish(self) -> int:
        code = self.process.wait()
        self.feeder.join()
        if self.failure is not None:
            raise self.failure
        return code

    def message(self) -> str:
        self.messages.seek(0, 2)
        self.messages.seek(max(0, self.messages.tell() - 4096))
        lines = self.messages.read().decode(errors="replace").split("\n")
        return next((text for text in reversed(lines) if text.strip()), "it said nothing")

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.terminate()
        if self.process.stdout is not None:
            self.process.stdout.close()
        self.process.wait()
        self.messages.close()


def run(jobs: Iterable[Job], *, program: Optional[str] = None, **options: Any) -> Iterator[Result]:
    """Fetch every job, and yield each result as it comes.

    jobs: URLs, or mappings with `url` and, where wanted, `id`, `checksum`, `headers` and `out`; all other fields are
    in the result. It may be endless: it is read only as fast as the work goes on, by a thread.
    program: another `pawl` than this package's.
    options: those of `pawl pipe`, with `_` for `-`: `to="s3://bucket/prefix"`, `max_size="8M"`, `header=["A: 1"]`.

    Raises PipeError when a job has no result, and what `jobs` raises. A result with the status `failed` raises nothing.
    Leaving the iterator early ends the child.
    """
    child = _Child(jobs, arguments(options), program)
    taken = 0
    try:
        for text in child.lines():
            taken += 1
            yield json.loads(text)
        code = child.finish()
        if code != 0 and taken != child.given:
            raise PipeError(code, child.message())
    finally:
        child.close()


def partitions(jobs: Iterable[Job], count: int, *, program: Optional[str] = None) -> Iterator[int]:
    """Yield for each job the number of its partition, from 0: jobs of one registrable host have the same."""
    child = _Child(jobs, ["--partition", str(count)], program)
    try:
        for text in child.lines():
            yield int(text.split(b"\t", 1)[0])
        code = child.finish()
        if code != 0:
            raise PipeError(code, child.message())
    finally:
        child.close()
