"""Types and verification for receivers of webhooks."""

from ..model import ReceivedEvent, UnknownEvent
from . import aws_lambda, django, flask, http_server, starlette
from .events import Event
from .receiver import Receiver
from .store import DuplicateStore, MemoryStore, State
from .verify import VerificationError, VerificationProblem, verify

__all__ = [
    "DuplicateStore",
    "Event",
    "MemoryStore",
    "ReceivedEvent",
    "Receiver",
    "State",
    "UnknownEvent",
    "VerificationError",
    "VerificationProblem",
    "aws_lambda",
    "django",
    "flask",
    "http_server",
    "starlette",
    "verify",
]
