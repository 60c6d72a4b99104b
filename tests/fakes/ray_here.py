"""A stand-in for Ray that runs the tasks of a cluster in this process, when their results are asked for."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any


class RayHere:
    """What a build uses of the module ``ray``. ``tasks`` counts the tasks that ran, by the name of their function."""

    exceptions = SimpleNamespace(RayError=RuntimeError)

    def __init__(self) -> None:
        self.tasks: dict[str, int] = {}

    def is_initialized(self) -> bool:
        return True

    def cluster_resources(self) -> dict[str, float]:
        return {"CPU": 1.0}

    def put(self, value: Any) -> Any:
        return pickle.loads(pickle.dumps(value))

    def remote(self, **_: Any) -> Callable[[Callable[..., Any]], Any]:
        def made(function: Callable[..., Any]) -> Any:
            return SimpleNamespace(remote=lambda *arguments: _Task(self, function, arguments))

        return made

    def wait(self, tasks: Sequence[_Task], num_returns: int) -> tuple[list[_Task], list[_Task]]:
        return list(tasks[:num_returns]), list(tasks[num_returns:])

    def get(self, task: _Task) -> Any:
        given = [self.get(one) if isinstance(one, _Task) else self.put(one) for one in task.arguments]
        name = task.function.__name__
        self.tasks[name] = self.tasks.get(name, 0) + 1
        try:
            return task.function(*given)
        except Exception as error:
            failed = RuntimeError(str(error))
            failed.cause = error  # type: ignore[attr-defined]
            raise failed from error

    def cancel(self, task: _Task) -> None:
        """Do nothing: a task runs when its result is asked for."""


class _Task:
    def __init__(self, ray: RayHere, function: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
        self.ray, self.function, self.arguments = ray, function, arguments
