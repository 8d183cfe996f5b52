"""Run the tasks of bulk loads on a cluster of Spark, which starts failed tasks again on other workers."""

from __future__ import annotations

import os
import re
import sys
from contextlib import chdir, nullcontext
from dataclasses import dataclass, field
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from zscope.pipelines.ingest.parallel_load import EngineError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

Task = TypeVar("Task")
Result = TypeVar("Result")

MISSING = "loads with Spark need pyspark and Java 17: pip install 'zscope[spark]'"
_UNCHANGED = "nothing was loaded"
_PYTHON = "spark.pyspark.python"
_LONGEST_REASON = 500


@dataclass
class SparkScheduler:
    """Runs tasks on the executors of a cluster. It starts Spark for the first task.

    An application of Spark that runs in this process already is used, and left running.
    """

    master: str | None = None
    """URL of the cluster, such as `spark://host:7077`, `yarn` or `local[4,4]`; by default as Spark is
    configured.
    """
    settings: Mapping[str, str] = field(default_factory=dict)
    """Properties of Spark."""
    _context: Any = field(default=None, init=False)
    _started: bool = field(default=False, init=False)

    def run(self, label: str, function: Callable[[Task, str], Result], tasks: Sequence[Task]) -> list[Result]:
        """Return the result of each task, in order."""
        if not tasks:
            return []
        context = self._application()
        from py4j.protocol import Py4JError
        from pyspark.errors import PySparkException

        context.setJobDescription(f"zscope ingest: {label}, {len(tasks):,} tasks")
        run_one = partial(_run_one, function, version("zscope"), str(Path.cwd()))
        try:
            results: list[Result] = context.parallelize(tasks, len(tasks)).map(run_one).collect()
        except (Py4JError, PySparkException) as error:
            raise EngineError(f"Spark: {label} failed: {failure_reason(str(error))}; {_UNCHANGED}") from error
        return results

    def _application(self) -> Any:  # noqa: ANN401 - a class of pyspark, which has no types here
        if self._context is not None:
            return self._context
        try:
            from pyspark import SparkConf, SparkContext
        except ImportError as error:
            raise EngineError(f"{MISSING} ({error})") from error
        self._started = SparkContext._active_spark_context is None
        conf = SparkConf()
        conf.setIfMissing("spark.app.name", "zscope ingest")
        conf.setIfMissing("spark.ui.showConsoleProgress", str(sys.stderr.isatty()).lower())
        for name, value in self.settings.items():
            conf.set(name, value)
        if self.master:
            conf.setMaster(self.master)
        if self._started and not (os.environ.get("PYSPARK_PYTHON") or conf.contains(_PYTHON)):
            # The default, python3, is rarely the interpreter in which zscope is installed.
            os.environ["PYSPARK_PYTHON"] = sys.executable
        try:
            self._context = SparkContext.getOrCreate(conf)
        except Exception as error:  # py4j and pyspark raise many kinds
            reason = failure_reason(str(error))
            raise EngineError(f"Spark cannot be started: {reason}; {_UNCHANGED}") from error
        return self._context

    def close(self) -> None:
        """Stop Spark, if it was started for these tasks."""
        if self._context is not None and self._started:
            self._context.stop()
        self._context = None


def _run_one(function: Callable[[Task, str], Result], expected: str, folder: str, task: Task) -> Result:
    """Run a task in a worker, in the folder of the driver, from which relative paths start."""
    from pyspark import TaskContext

    from zscope.pipelines.ingest.tasks import TaskError

    if (installed := version("zscope")) != expected:
        raise TaskError(f"the worker has zscope {installed}, the driver {expected}; install the same version")
    context = TaskContext.get()
    assert context is not None, "a worker has the context of its task"
    # A worker that does not have the folder can still do tasks with absolute paths.
    with chdir(folder) if Path(folder).is_dir() else nullcontext():
        return function(task, f"a{context.taskAttemptId()}")


_LOST = re.compile(r"Job aborted due to stage failure: (.+)")
_RAISED = re.compile(r"^(?:[\w.]+\.)?(\w+(?:Error|Exception|Interrupt)): (.+)$", re.MULTILINE)
_TRACEBACK = "Traceback (most recent call last):"


def failure_reason(text: str) -> str:
    """Return the one line that matters of an exception of Spark, which contains those of its workers.

    >>> failure_reason("Job aborted due to stage failure: Task 0 failed 4 times\\n...")
    'Task 0 failed 4 times'
    """
    aborted = _LOST.search(text)
    worker = text.partition(_TRACEBACK)[2].partition("\n\n")[0]
    raised = _RAISED.findall(worker)
    if raised:
        name, message = raised[-1]
        reason = message if name == "TaskError" else f"{name}: {message}"
    elif aborted:
        reason = aborted[1]
    else:
        reason = next((line for line in text.splitlines() if line.strip()), "no reason was given")
    return reason.strip()[:_LONGEST_REASON]
