"""Client of the Conversation Service API. Receivers of its webhooks use `conversation_service.receiver`."""

from . import models, params
from .client import AsyncClient, AsyncWidget, Client, Options, Widget, WithResponse
from .errors import (
    ApiError,
    ConnectionError,
    DeprecatedOperationWarning,
    ResponseError,
    ServiceError,
    TimeoutError,
)
from .exchange import DeprecationNotice, Response
from .generated import error_types
from .generated.error_types import *  # noqa: F403
from .model import UnknownModel
from .pages import AsyncPages, Batch, Page, Pages

__all__ = [
    "ApiError",
    "AsyncClient",
    "AsyncPages",
    "AsyncWidget",
    "Batch",
    "Client",
    "ConnectionError",
    "DeprecatedOperationWarning",
    "DeprecationNotice",
    "Options",
    "Page",
    "Pages",
    "Response",
    "ResponseError",
    "ServiceError",
    "TimeoutError",
    "UnknownModel",
    "Widget",
    "WithResponse",
    "models",
    "params",
]
__all__ += error_types.__all__
