from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from service import Service

Services = Callable[..., Service]


@pytest.fixture(params=[False, True], ids=["sync", "async"])
def a_service(request: pytest.FixtureRequest) -> Services:
    """Makes a service with a client of one of the two kinds."""

    def make(respond: Any, **options: Any) -> Service:
        return Service(respond, request.param, **options)

    return partial(make)
