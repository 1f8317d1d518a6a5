"""For Django: `path("hooks", view(receiver))`."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from .receiver import Receiver
from .verify import MAX_BODY_BYTES

if TYPE_CHECKING:
    from django.http import HttpRequest, HttpResponse


def view(receiver: Receiver) -> Callable[[HttpRequest], HttpResponse]:
    from django.http import HttpResponse
    from django.views.decorators.csrf import csrf_exempt
    from django.views.decorators.http import require_POST

    @csrf_exempt
    @require_POST
    def receive(request: HttpRequest) -> HttpResponse:
        # One byte more than is taken shows that a body is too large.
        body = request.read(MAX_BODY_BYTES + 1)
        return HttpResponse(status=receiver.handle(request.headers, body))

    return receive
