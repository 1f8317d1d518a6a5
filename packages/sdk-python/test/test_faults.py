"""Thousands of calls through faults: each takes effect once, and waits as long as it was asked to."""

from __future__ import annotations

import asyncio
import random
import threading
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
from faulty_server import FAULTS, SLOW, Ledger, make_server

from conversation_service import AsyncClient, Client
from conversation_service.exchange import FIRST_WAIT, MAX_BACKOFF

CALLS = 1_250
CONCURRENT = 8

Waits = dict[str, list[float]]


@pytest.fixture
def ledger() -> Ledger:
    return Ledger(random.Random(2026))


@pytest.fixture
def base_url(ledger: Ledger) -> Iterator[str]:
    server = make_server(ledger)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.socket.close()


def check(ledger: Ledger, waits: Waits) -> None:
    users = [f"user-{number}" for number in range(CALLS)]
    assert ledger.effects == Counter(users)
    for user in users:
        assert len(ledger.keys[user]) == 1
        faults = ledger.faults[user]
        assert len(waits.get(user, [])) == len(faults)
        for tried, ((fault, seconds), waited) in enumerate(zip(faults, waits.get(user, []), strict=True)):
            if fault in ("limited", "unavailable soon"):
                assert waited == seconds
            else:
                assert 0 <= waited <= min(MAX_BACKOFF, FIRST_WAIT * 2**tried)
    met = Counter(fault for faults in ledger.faults.values() for fault, _ in faults)
    assert set(met) == set(FAULTS)
    assert min(met.values()) > 100


def test_threads_with_one_client(ledger: Ledger, base_url: str) -> None:
    waits: Waits = {}
    current = threading.local()

    with Client(api_key="ck_live_1", base_url=base_url, sleep=lambda s: current.waits.append(s)) as client:

        def call(number: int) -> None:
            user = f"user-{number}"
            waits[user] = current.waits = []
            assert client.conversations.create(channel_id="web", external_user_id=user).id == f"cnv_{user}"

        with ThreadPoolExecutor(CONCURRENT) as pool:
            list(pool.map(call, range(CALLS)))
    check(ledger, waits)


def test_tasks_with_one_client(ledger: Ledger, base_url: str) -> None:
    waits: Waits = {}

    async def sleep(seconds: float) -> None:
        task = asyncio.current_task()
        assert task is not None
        waits.setdefault(task.get_name(), []).append(seconds)

    async def call_all() -> None:
        gate = asyncio.Semaphore(CONCURRENT)
        async with AsyncClient(api_key="ck_live_1", base_url=base_url, sleep=sleep) as client:

            async def call(user: str) -> None:
                async with gate:
                    created = await client.conversations.create(channel_id="web", external_user_id=user)
                    assert created.id == f"cnv_{user}"

            users = [f"user-{number}" for number in range(CALLS)]
            await asyncio.gather(*(asyncio.create_task(call(user), name=user) for user in users))

    asyncio.run(call_all())
    check(ledger, waits)


def test_no_response_in_time(ledger: Ledger, base_url: str) -> None:
    users = [f"slow-{number}" for number in range(2 * CONCURRENT)]
    client = Client(
        api_key="ck_live_1", base_url=base_url, timeout=SLOW / 2, max_retries=20, sleep=lambda _: None
    )

    with client:

        def call(user: str) -> str:
            return client.conversations.create(channel_id="web", external_user_id=user).id

        with ThreadPoolExecutor(CONCURRENT) as pool:
            assert list(pool.map(call, users)) == [f"cnv_{user}" for user in users]
    assert ledger.effects == Counter(users)
    assert {len(keys) for keys in ledger.keys.values()} == {1}
    assert min(len(tries) for tries in ledger.faults.values()) > 1
