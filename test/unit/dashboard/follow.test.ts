import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ApiFailure } from '../../../dashboard/src/api/failures.ts';
import { LIVE_MS } from '../../../dashboard/src/api/pace.ts';
import { follow } from '../../../dashboard/src/pages/live/follow.ts';
import { MAX_KEPT, MAX_WAITING } from '../../../dashboard/src/pages/live/rows.ts';
import { anEndpoint, aRow, type Made, NOW, type Row } from './followed-listing.ts';

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const { signal } = new AbortController();

const idsOf = (rows: readonly Row[]): string[] => rows.map(({ id }) => id);

/** A list on screen, at its top at first. */
async function aFollowed(endpoint: ReturnType<typeof anEndpoint>) {
  const view = { isAtTop: true, inView: [] as string[] };
  const list = follow<Made>(
    endpoint.source,
    { isAtTop: () => view.isAtTop, inView: () => view.inView },
    () => endpoint.now,
  );
  await list.begin(signal);
  return {
    view,
    list,
    shown: () => idsOf(list.state().rows),
    /**
     * Lets time pass, with a poll at each turn.
     * @returns the cost of the most expensive turn
     */
    async looks(milliseconds: number) {
      const most = { requests: 0, rows: 0 };
      for (const end = endpoint.now + milliseconds; endpoint.now < end; ) {
        endpoint.now += LIVE_MS;
        Object.assign(endpoint.spent, { requests: 0, rows: 0 });
        await list.turn(signal);
        most.requests = Math.max(most.requests, endpoint.spent.requests);
        most.rows = Math.max(most.rows, endpoint.spent.rows);
      }
      return most;
    },
    /** Scrolls to the list's end. */
    async toTheEnd() {
      while (list.state().next !== null) await list.loadMore(signal);
    },
  };
}

const many = (count: number, time: number, given: Partial<Made> = {}): Made[] =>
  Array.from({ length: count }, () => aRow(time, given));

describe('a followed list of deliveries', () => {
  it('shows new rows and changed ones after the next poll', async () => {
    const endpoint = anEndpoint();
    const { looks, shown, list } = await aFollowed(endpoint);
    const row = aRow(NOW + 500, { status: 'pending', attempts: 0 });
    endpoint.add(row);
    await looks(LIVE_MS);
    expect(shown()).toEqual([row.id]);
    endpoint.change(row.id, { status: 'retrying', attempts: 1 });
    await looks(LIVE_MS);
    expect(list.state().rows[0]).toMatchObject({ status: 'retrying', attempts: 1 });
  });

  it('reads very little while nothing changes, however old its newest row is', async () => {
    const endpoint = anEndpoint(({ status }) => status === 'exhausted', false);
    endpoint.add(aRow(NOW - 20 * HOUR, { status: 'exhausted' }));
    endpoint.add(...Array.from({ length: 9000 }, (_, index) => aRow(NOW - 10 * HOUR - index)));
    const { looks, shown, toTheEnd } = await aFollowed(endpoint);
    await toTheEnd();
    expect(shown()).toHaveLength(1);
    expect(await looks(MINUTE)).toEqual({ requests: 2, rows: 0 });
  });

  it('reads no more about a burst of equal times that is over', async () => {
    const endpoint = anEndpoint();
    endpoint.add(...many(450, NOW - SECOND), ...many(100, NOW - HOUR));
    const { looks, list, view } = await aFollowed(endpoint);
    await looks(LIVE_MS);
    const before = list.state().rows;
    const most = await looks(MINUTE);
    expect(list.state().rows).toEqual(before);
    expect(most.requests).toBeLessThanOrEqual(6);
    expect((await looks(20 * MINUTE)).rows).toBeLessThanOrEqual(1000);
    view.isAtTop = false;
    await looks(MINUTE);
    expect(list.state().waiting).toEqual([]);
    expect(list.state().rows).toEqual(before);
  });

  it('shows the newest of a burst, and all of it on further pages', async () => {
    const endpoint = anEndpoint();
    endpoint.add(...many(100, NOW - HOUR));
    const { looks, shown, list, toTheEnd } = await aFollowed(endpoint);
    endpoint.add(...many(2000, NOW + 100));
    await looks(LIVE_MS);
    expect(shown()).toEqual(idsOf(endpoint.truth()).slice(0, 300));
    expect((await looks(MINUTE)).requests).toBeLessThanOrEqual(6);
    expect(shown().length).toBeGreaterThanOrEqual(300);
    expect(list.state().error).toBeUndefined();
    await toTheEnd();
    expect(shown()).toEqual(idsOf(endpoint.truth()));
  });

  it('shows a burst only when the user is back at the top', async () => {
    const endpoint = anEndpoint();
    endpoint.add(...Array.from({ length: 350 }, (_, index) => aRow(NOW - HOUR - index)));
    const { looks, shown, list, view, toTheEnd } = await aFollowed(endpoint);
    view.isAtTop = false;
    const before = shown();
    endpoint.add(...many(2000, NOW + 100));
    await looks(MINUTE);
    expect(shown()).toEqual(before);
    expect(list.state().waiting).toHaveLength(MAX_WAITING);
    expect(list.state().cut).toBeDefined();
    list.showWaiting();
    expect(shown()).toEqual(idsOf(endpoint.truth()).slice(0, MAX_WAITING));
    await toTheEnd();
    expect(shown()).toEqual(idsOf(endpoint.truth()));
  });

  it('treats a page of the exact size correctly', async () => {
    const endpoint = anEndpoint();
    endpoint.add(...many(100, NOW - HOUR));
    const { looks, shown, list } = await aFollowed(endpoint);
    expect(list.state().next).toBeNull();
    endpoint.add(...many(100, NOW + 100));
    await looks(LIVE_MS);
    expect(shown()).toEqual(idsOf(endpoint.truth()));
  });

  it('polls open deliveries in view again when they can have changed', async () => {
    const endpoint = anEndpoint();
    const row = aRow(NOW - MINUTE, { status: 'retrying', nextRetryAt: new Date(NOW + MINUTE).toISOString() });
    endpoint.add(row, aRow(NOW - HOUR));
    const { looks, list, view } = await aFollowed(endpoint);
    view.inView = [row.id];
    endpoint.now += 6 * MINUTE;
    await looks(LIVE_MS);
    endpoint.change(row.id, { status: 'succeeded', attempts: 2, nextRetryAt: null });
    await looks(20 * SECOND);
    expect(list.state().rows[0]).toMatchObject({ status: 'succeeded', attempts: 2 });
  });

  it('removes rows that no longer match, at the top only', async () => {
    const endpoint = anEndpoint(({ status }) => status === 'retrying', false);
    const [first, second] = [aRow(NOW - HOUR), aRow(NOW - 2 * HOUR)];
    for (const row of [first, second]) endpoint.add({ ...row, status: 'retrying' });
    const { looks, shown, list, view } = await aFollowed(endpoint);
    view.inView = shown();
    view.isAtTop = false;
    endpoint.change(first.id, { status: 'succeeded' });
    await looks(MINUTE);
    expect(list.state().rows.map(({ status }) => status)).toEqual(['succeeded', 'retrying']);
    view.isAtTop = true;
    endpoint.change(second.id, { status: 'exhausted' });
    await looks(MINUTE);
    expect(shown()).not.toContain(second.id);
  });

  it('continues where it stopped when more was read than one turn may read', async () => {
    const endpoint = anEndpoint(({ status }) => status === 'exhausted', false);
    const { looks, shown } = await aFollowed(endpoint);
    const failed = aRow(NOW + SECOND, { status: 'exhausted' });
    endpoint.add(failed, ...Array.from({ length: 8000 }, (_, index) => aRow(NOW + 2 * SECOND + index)));
    endpoint.now += HOUR;
    expect((await looks(LIVE_MS)).requests).toBe(3);
    await looks(4 * LIVE_MS);
    expect(shown()).toEqual([failed.id]);
  });

  it('reloads a page that failed, as soon as the service answers', async () => {
    const endpoint = anEndpoint();
    endpoint.add(...many(150, NOW - HOUR));
    const { looks, shown, list } = await aFollowed(endpoint);
    const { page } = endpoint.source;
    const failure = new ApiFailure('', { status: 503, type: 'SERVICE_UNAVAILABLE' });
    endpoint.source.page = () => Promise.reject(failure);
    await list.loadMore(signal);
    expect(list.state()).toMatchObject({ error: failure, isLoading: false });
    endpoint.source.page = page;
    await looks(MINUTE);
    expect(list.state().error).toBeUndefined();
    expect(shown()).toHaveLength(150);
  });

  it('restarts a poll whose cursor is refused', async () => {
    const endpoint = anEndpoint(({ status }) => status === 'exhausted', false);
    const { looks, shown, list } = await aFollowed(endpoint);
    const { page } = endpoint.source;
    const [given, refused] = [new Set<string>(), new Set<string>()];
    endpoint.source.page = async (part, signal) => {
      if (refused.has(part.cursor ?? '')) throw new Error('no cursor of this listing');
      const read = await page(part, signal);
      given.add(read.next ?? '');
      return read;
    };
    const failed = aRow(NOW + SECOND, { status: 'exhausted' });
    endpoint.add(failed, ...Array.from({ length: 4000 }, (_, index) => aRow(NOW + 2 * SECOND + index)));
    endpoint.now += HOUR;
    await looks(LIVE_MS);
    for (const cursor of given) refused.add(cursor);
    await expect(list.turn(signal)).rejects.toThrow('no cursor');
    refused.clear();
    given.clear();
    await looks(LIVE_MS);
    expect(shown()).toEqual([]);
    expect(given.size).toBe(3);
    await looks(LIVE_MS);
    expect(shown()).toEqual([failed.id]);
  });

  it('does not grow indefinitely while it stays open', async () => {
    const endpoint = anEndpoint();
    const { looks, shown, toTheEnd } = await aFollowed(endpoint);
    for (let minute = 0; minute < 5; minute += 1) {
      endpoint.add(...Array.from({ length: 600 }, (_, index) => aRow(endpoint.now + index * 100)));
      await looks(MINUTE);
      expect(shown().length).toBeLessThanOrEqual(MAX_KEPT);
    }
    await toTheEnd();
    expect(shown()).toEqual(idsOf(endpoint.truth()));
  });

  const coming = fc.record({
    seconds: fc.integer({ min: 1, max: 600 }),
    late: fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 60 })),
    type: fc.constantFrom('ticket.created', 'message.received'),
    count: fc.oneof({ weight: 9, arbitrary: fc.constant(1) }, fc.integer({ min: 2, max: 120 })),
  });
  const visits = fc.array(fc.record({ isAtTop: fc.boolean(), seconds: fc.integer({ min: 1, max: 90 }) }), {
    maxLength: 12,
  });

  it("eventually has the service's rows, and sends few requests when nothing changes", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(coming, { maxLength: 80 }),
        visits,
        fc.nat(400),
        fc.boolean(),
        async (events, moves, before, isNarrowed) => {
          const endpoint = anEndpoint(
            ({ eventType }) => !isNarrowed || eventType === 'ticket.created',
            !isNarrowed,
          );
          for (let index = 0; index < before; index += 1) endpoint.add(aRow(NOW - HOUR - index * SECOND));
          for (const { seconds, late, type, count } of events) {
            const time = NOW + seconds * SECOND;
            // With many rows at once none is late: polls have a limited depth.
            const madeAt = count === 1 ? time + late * SECOND : time;
            endpoint.add(...many(count, time, { eventType: type, madeAt }));
          }
          const { looks, shown, view, toTheEnd, list } = await aFollowed(endpoint);
          for (const { isAtTop, seconds } of moves) {
            view.isAtTop = isAtTop;
            const [first] = shown();
            await looks(seconds * SECOND);
            if (!isAtTop) expect(shown()[0]).toBe(first);
          }
          view.isAtTop = true;
          await looks(11 * MINUTE);
          const most = await looks(10 * MINUTE);
          expect(most.requests).toBeLessThanOrEqual(6);
          await toTheEnd();
          expect(shown()).toEqual(idsOf(endpoint.truth()));
          expect(list.state().waiting).toEqual([]);
        },
      ),
      { numRuns: 40 },
    );
  });
});
