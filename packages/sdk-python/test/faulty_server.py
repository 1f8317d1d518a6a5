"""A service on this machine that refuses, breaks off and resets, and has idempotency keys."""

from __future__ import annotations

import json
import random
import socket
import struct
import threading
import time
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Literal

Fault = Literal[
    "limited", "unavailable", "unavailable soon", "reset before", "reset after", "cut off", "slow"
]
FAULTS: tuple[Fault, ...] = (
    "limited",
    "unavailable",
    "unavailable soon",
    "reset before",
    "reset after",
    "cut off",
)
#: Seconds until the first response to a user `slow-…`; the timeout of its client is shorter.
SLOW = 4.0
#: Faults that a call may meet: fewer than its tries.
MOST_FAULTS = 4
#: An RST instead of a FIN.
RESET_LINGER = struct.pack("ii", 1, 0)


@dataclass
class Ledger:
    """What has happened, by the `externalUserId` of calls."""

    chance: random.Random
    effects: Counter[str] = field(default_factory=Counter)
    faults: dict[str, list[tuple[Fault, int]]] = field(default_factory=lambda: defaultdict(list))
    keys: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    responses: dict[str, bytes] = field(default_factory=dict)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def choose(self, user: str, key: str) -> tuple[Fault, int] | None:
        """The fault of a try, with the seconds of `Retry-After`."""
        with self.lock:
            self.keys[user].add(key)
            met = self.faults[user]
            if user.startswith("slow-"):
                met.append(("slow", 0))
                return met[0] if len(met) == 1 else None
            if len(met) >= MOST_FAULTS or self.chance.random() < 0.4:
                return None
            met.append((self.chance.choice(FAULTS), self.chance.randint(0, 60)))
            return met[-1]

    def take_effect(self, user: str, key: str) -> bytes:
        """The first response of a key, and one effect."""
        with self.lock:
            if key not in self.responses:
                self.effects[user] += 1
                self.responses[key] = respond(user)
            return self.responses[key]


def respond(user: str) -> bytes:
    conversation: dict[str, Any] = {
        "id": f"cnv_{user}",
        "channelId": "chn_web",
        "externalUserId": user,
        "status": "open",
        "resolvedAt": None,
        "resolvedBy": None,
        "metadata": {},
        "createdAt": "2026-11-20T09:31:00.250Z",
        "updatedAt": "2026-11-20T09:31:00.250Z",
    }
    return json.dumps({"success": True, "data": conversation}).encode()


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    # A response in one packet: with two, the second would wait for an acknowledgement.
    wbufsize = -1
    ledger: Ledger

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        user, key = body["externalUserId"], self.headers["idempotency-key"]
        fault, seconds = self.ledger.choose(user, key) or (None, 0)
        if fault == "reset before":
            self.reset()
        elif fault == "reset after":
            self.ledger.take_effect(user, key)
            self.reset()
        elif fault == "slow":
            self.ledger.take_effect(user, key)
            time.sleep(SLOW)
            self.reset()
        elif fault == "cut off":
            self.send(201, self.ledger.take_effect(user, key), cut_off=True)
        elif fault is not None:
            status = 429 if fault == "limited" else 503
            error = {
                "type": "RATE_LIMITED" if status == 429 else "SERVICE_UNAVAILABLE",
                "message": "No.",
                "requestId": "r",
            }
            headers = {} if fault == "unavailable" else {"retry-after": str(seconds)}
            self.send(status, json.dumps({"error": error}).encode(), headers)
        else:
            self.send(201, self.ledger.take_effect(user, key))

    def send(
        self, status: int, content: bytes, headers: dict[str, str] | None = None, cut_off: bool = False
    ) -> None:
        self.send_response(status)
        for name, value in {**(headers or {}), "content-length": str(len(content))}.items():
            self.send_header(name, value)
        self.end_headers()
        if cut_off:
            self.wfile.write(content[:40])
            self.wfile.flush()
            self.reset()
        else:
            self.wfile.write(content)

    def reset(self) -> None:
        self.close_connection = True
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET_LINGER)
        self.connection.close()

    def log_message(self, format: str, *args: Any) -> None:
        pass


class Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 256

    def shutdown_request(self, request: Any) -> None:
        # A connection that was reset is closed already.
        self.close_request(request)


def make_server(ledger: Ledger) -> Server:
    handler = type("LedgerHandler", (Handler,), {"ledger": ledger})
    return Server(("127.0.0.1", 0), handler)
