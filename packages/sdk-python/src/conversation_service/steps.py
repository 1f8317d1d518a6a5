"""
Code that is the same with and without `async`. It is a generator of steps, functions to call in order, and
gets the result of each. What runs the generator either calls them, or also awaits what they return.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Generator, Iterator
from dataclasses import dataclass
from inspect import isawaitable
from typing import Any, Generic, TypeVar

T = TypeVar("T")


@dataclass(frozen=True)
class Emit(Generic[T]):
    """A value of a generator that is iterated over."""

    value: T


Steps = Generator[Callable[[], Any], Any, T]
EmittingSteps = Generator["Callable[[], Any] | Emit[T]", Any, None]


@dataclass
class Outcome:
    """Of the last step."""

    value: Any = None
    error: BaseException | None = None

    def resume(self, steps: Generator[Any, Any, T]) -> Any:
        """The next step. :raises StopIteration: with the result of the steps"""
        return steps.send(self.value) if self.error is None else steps.throw(self.error)


def call(step: Callable[[], Any]) -> Outcome:
    try:
        value = step()
        if isawaitable(value):
            getattr(value, "close", lambda: None)()
            raise TypeError("A function is asynchronous here: use the asynchronous client or handler.")
        return Outcome(value)
    except BaseException as error:
        return Outcome(error=error)


async def call_async(step: Callable[[], Any]) -> Outcome:
    try:
        value = step()
        return Outcome(await value if isawaitable(value) else value)
    except BaseException as error:
        return Outcome(error=error)


def run(steps: Steps[T]) -> T:
    outcome = Outcome()
    while True:
        try:
            step = outcome.resume(steps)
        except StopIteration as end:
            result: T = end.value
            return result
        outcome = call(step)


async def run_async(steps: Steps[T]) -> T:
    outcome = Outcome()
    while True:
        try:
            step = outcome.resume(steps)
        except StopIteration as end:
            result: T = end.value
            return result
        outcome = await call_async(step)


def iterate(steps: EmittingSteps[T]) -> Iterator[T]:
    outcome = Outcome()
    while True:
        try:
            step = outcome.resume(steps)
        except StopIteration:
            return
        if isinstance(step, Emit):
            yield step.value
            outcome = Outcome()
        else:
            outcome = call(step)


async def iterate_async(steps: EmittingSteps[T]) -> AsyncIterator[T]:
    outcome = Outcome()
    while True:
        try:
            step = outcome.resume(steps)
        except StopIteration:
            return
        if isinstance(step, Emit):
            yield step.value
            outcome = Outcome()
        else:
            outcome = await call_async(step)
