"""Operations of the API."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Generic, TypeVar, cast

from pydantic import TypeAdapter, ValidationError

from .model import UnknownModel

T = TypeVar("T")


@dataclass(frozen=True)
class Operation(Generic[T]):
    """An operation, and the type of its resource or of the items of its list."""

    id: str
    method: str
    path: str
    result: Any

    def parse(self, data: Any) -> T:
        """
        :raises ValidationError: if data is not as documented
        """
        try:
            return self._adapter.validate_python(data)
        except ValidationError as error:
            if any(fault["type"] == "union_tag_invalid" for fault in error.errors()):
                return cast(T, UnknownModel.model_validate(data))
            raise

    # Built at the first call, because a program uses few of the operations.
    @cached_property
    def _adapter(self) -> TypeAdapter[T]:
        return TypeAdapter(self.result)
