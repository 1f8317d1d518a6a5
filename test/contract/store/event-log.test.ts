import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { newId, parseCreationTime } from '../../../functions/aws/ids.ts';
import { COMMIT_WINDOW_SECONDS, type Page } from '../../../functions/aws/pages.ts';
import { committer } from '../../../functions/aws/transaction.ts';
import { outboxStore } from '../../../functions/delivery/outbox.ts';
import { type EventFilter, eventLog } from '../../../functions/events/event-log.ts';
import type { OutboxEvent } from '../../../functions/events/events.ts';
import { anEvent, aSandboxTenant, aTenant, later, NOW, seconds } from '../../builders.ts';
import { memoryTables } from '../../doubles/tables/stack-tables.ts';
import { dynamoDb, type TestTables } from '../../engines.ts';
import { casesOf } from '../../support/cases.ts';

const engine = dynamoDb();
const ENGINES: [name: string, tables: () => Promise<TestTables>, cases: { events: number; runs: number }][] =
  [
    ['in memory', async () => memoryTables(), { events: 1000, runs: 12 }],
    ['in the engine', () => engine.tables(), { events: casesOf(200, 1000), runs: casesOf(3, 12) }],
  ];
const ALL: EventFilter = { types: undefined };
const MS_PER_DAY = 86_400_000;

function openLog({ outbox, service }: TestTables) {
  const commit = committer(outbox.client);
  const store = outboxStore(outbox);
  return {
    ...eventLog(outbox, service),
    add: (event: OutboxEvent) => commit([store.append(event)]),
  };
}

/** Reads pages until there is no next one. */
async function readAll(
  read: (after: string | undefined) => Promise<Page<OutboxEvent>>,
  onPage: (page: Page<OutboxEvent>) => Promise<unknown> = async () => undefined,
): Promise<string[]> {
  const ids: string[] = [];
  for (let after: string | undefined; ; ) {
    const page = await read(after);
    ids.push(...page.items.map(({ id }) => id));
    await onPage(page);
    if (page.next === undefined) return ids;
    after = page.next;
  }
}

describe.each(ENGINES)('event log (%s)', (_name, tablesOf, cases) => {
  it('lists each of many events once, newest first, in pages of 7 while others are committed', async () => {
    const tenant = aTenant();
    const log = openLog(await tablesOf());
    const events = Array.from({ length: cases.events }, (_, index) =>
      anEvent({ tenant, now: later(NOW, index) }),
    );
    await Promise.all(events.map(log.add));
    const now = later(NOW, seconds(60));
    let added = 0;
    async function addAnother(): Promise<void> {
      added += 1;
      await log.add(anEvent({ tenant, now: later(now, added) }));
    }

    const listed = await readAll(
      (after) => log.listNewest(tenant, { limit: 7, after }, ALL, now),
      addAnother,
    );

    const newestFirst = events.map(({ id }) => id).toSorted();
    expect(listed).toEqual(newestFirst.reverse());
    expect(added).toBe(Math.ceil(cases.events / 7));
  });

  it('shows a follower an event 15 seconds after it happened', async () => {
    const tenant = aTenant();
    const log = openLog(await tablesOf());
    await log.add(anEvent({ tenant, now: NOW }));
    const readAt = async (ms: number) =>
      (await log.listOldest(tenant, { limit: 10 }, ALL, later(NOW, ms))).items.length;

    expect(COMMIT_WINDOW_SECONDS).toBe(15);
    expect([await readAt(15_000), await readAt(15_001)]).toEqual([0, 1]);
  });

  it('ends a list with the oldest first where its time range ends', async () => {
    const tenant = aTenant();
    const log = openLog(await tablesOf());
    const events = [0, 10, 20].map((ms) => anEvent({ tenant, now: later(NOW, ms) }));
    await Promise.all(events.map(log.add));
    const filter = { ...ALL, from: later(NOW, 10), to: later(NOW, 20) };
    const read = (now: Date) => readAll((after) => log.listOldest(tenant, { limit: 1, after }, filter, now));

    expect(await read(later(NOW, 60_000))).toEqual([events[1]?.id]);
  });

  it('never moves a cursor back when the clock of a function is behind', async () => {
    const tenant = aTenant();
    const log = openLog(await tablesOf());
    const ahead = await log.listOldest(tenant, { limit: 5 }, ALL, later(NOW, 60_000));
    const behind = await log.listOldest(tenant, { limit: 5, after: ahead.follow }, ALL, later(NOW, 50_000));

    expect(ahead.follow).toBeDefined();
    expect(behind).toEqual({ items: [], follow: ahead.follow });
  });

  it('shows events of the last 30 days and of this tenant only, in both orders', async () => {
    const tenant = aSandboxTenant({ generation: 3 });
    const log = openLog(await tablesOf());
    const expired = anEvent({ tenant, now: later(NOW, -30 * MS_PER_DAY - 1) });
    const oldest = anEvent({ tenant, now: later(NOW, -30 * MS_PER_DAY) });
    const recent = anEvent({ tenant, now: NOW });
    const foreign = [
      anEvent({ now: NOW }),
      anEvent({ tenant: { ...tenant, generation: 2 }, now: NOW }),
      anEvent({ tenant: { ...tenant, generation: 4 }, now: NOW }),
    ];
    for (const event of [expired, oldest, recent, ...foreign]) await log.add(event);

    const newest = await log.listNewest(tenant, { limit: 10 }, ALL, NOW);
    const oldestFirst = await log.listOldest(tenant, { limit: 10 }, ALL, later(NOW, 0));

    expect(newest.items).toEqual([recent, oldest]);
    expect(oldestFirst.items).toEqual([oldest]);
    for (const event of foreign) expect(await log.find(tenant, event.id)).toBeUndefined();
    expect(await log.find(tenant, recent.id)).toEqual(recent);
  });

  it('lists by type, time and ids what a filter over all events finds', async () => {
    const tenant = aTenant();
    const log = openLog(await tablesOf());
    const TYPES = ['conversation.created', 'ticket.created', 'message.received'] as const;
    const events = Array.from({ length: 200 }, (_, index) => ({
      ...anEvent({ tenant, now: later(NOW, (index * 37) % 100) }),
      type: TYPES[index % 50 === 0 ? 2 : index % 2] ?? 'ticket.created',
    }));
    await Promise.all(events.map(log.add));
    const moment = fc.option(
      fc.integer({ min: -5, max: 105 }).map((ms) => later(NOW, ms)),
      { nil: undefined },
    );
    await fc.assert(
      fc.asyncProperty(
        fc.option(fc.subarray([...TYPES], { minLength: 1 }), { nil: undefined }),
        moment,
        moment,
        fc.integer({ min: 1, max: 30 }),
        fc.boolean(),
        fc.option(fc.subarray([...events.map(({ id }) => id), newId('evt', NOW)]), { nil: undefined }),
        async (types, from, to, limit, isOldestFirst, ids) => {
          const list = isOldestFirst ? log.listOldest : log.listNewest;
          const order = isOldestFirst ? 'oldest first' : 'newest first';
          const read: typeof list = (owner, page, filter, now) =>
            ids ? log.listThese(owner, ids, page, filter, order, now) : list(owner, page, filter, now);
          const now = later(NOW, seconds(60));
          const end = to ?? later(NOW, seconds(30));
          const listed = await readAll((after) =>
            read(tenant, { limit, after }, { types, from, to: end }, now),
          );
          const wanted = events
            .filter(({ type }) => types === undefined || types.some((one) => one === type))
            .map(({ id }) => id)
            .filter((id) => {
              if (ids?.includes(id) === false) return false;
              const at = parseCreationTime(id);
              return (from === undefined || at >= from) && at < end;
            })
            .toSorted();
          expect(listed).toEqual(isOldestFirst ? wanted : wanted.reverse());
        },
      ),
      { numRuns: 25 },
    );
  });
});
