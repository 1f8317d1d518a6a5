import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PATIENCE } from 'aws-local/test/patience.ts';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { newId } from '../../../functions/aws/ids.ts';
import {
  API_TIMEOUT_SECONDS,
  COMMIT_WINDOW_SECONDS,
  type Page,
  type PageRequest,
} from '../../../functions/aws/pages.ts';
import { type Change, committer } from '../../../functions/aws/transaction.ts';
import { messageStore } from '../../../functions/conversations/conversations.ts';
import { outboxStore } from '../../../functions/delivery/outbox.ts';
import { eventLog } from '../../../functions/events/event-log.ts';
import { aMessage, anEvent, aTenant, later, NOW, seconds } from '../../builders.ts';
import { memoryTables } from '../../doubles/tables/stack-tables.ts';
import { dynamoDb, type TestTables } from '../../engines.ts';
import { casesOf } from '../../support/cases.ts';

/*
 * A row's id has the time at which its request began, and the row may be committed after rows with later ids.
 * A reader of ascending ids that keeps a position must not pass it.
 */

const ROOT = join(import.meta.dirname, '../../..');

type Row = { id: string; change: Change };

/** Readers that continue where they ended. */
const FOLLOWERS = {
  'the event log, oldest first'({ outbox, service }: TestTables) {
    const tenant = aTenant();
    return {
      commit: committer(outbox.client),
      buildRow(beganMs: number): Row {
        const event = anEvent({ tenant, now: later(NOW, beganMs) });
        return { id: event.id, change: outboxStore(outbox).append(event) };
      },
      read: (page: PageRequest, now: Date): Promise<Page<{ id: string }>> =>
        eventLog(outbox, service).listOldest(tenant, page, { types: undefined }, now),
    };
  },
  'the messages of a visitor'({ service }: TestTables) {
    const tenant = aTenant();
    const conversationId = newId('cnv', NOW);
    const store = messageStore(service);
    return {
      commit: committer(service.client),
      buildRow(beganMs: number): Row {
        const message = aMessage({ id: newId('msg', later(NOW, beganMs)), conversationId });
        return { id: message.id, change: store.add(tenant, message) };
      },
      read: (page: PageRequest, now: Date): Promise<Page<{ id: string }>> =>
        store.follow(tenant, conversationId, page, now),
    };
  },
};
type Name = keyof typeof FOLLOWERS;

/** Why a reader of ascending keys without a position, or with one that ends, misses nothing. */
const OTHERS = {
  fromStart: 'keeps no position: each run begins at the first row',
  present: 'returns what is there at the time of the call',
  live: 'what is committed after a job has passed it is delivered by the fan-out',
  caller: 'its callers are in this table',
};
const RULES: Record<string, Name | keyof typeof OTHERS> = {
  blockedHostStore: 'present',
  openDeliveries: 'present',
  dueIndex: 'fromStart',
  endpointScan: 'fromStart',
  erasedConversations: 'fromStart',
  endpointStore: 'present',
  eventLog: 'the event log, oldest first',
  jobPages: 'live',
  followPartition: 'the messages of a visitor',
  deliveriesInHour: 'fromStart',
  ledgerStore: 'fromStart',
  scanPartition: 'caller',
  sandboxRows: 'fromStart',
  purgeStore: 'fromStart',
  redeliveryJobs: 'fromStart',
  retentionStore: 'fromStart',
  sourceVersions: 'present',
  dueSources: 'fromStart',
  usageReader: 'present',
};

/** Readers of ascending keys in the stores: the declarations that have the query. */
function findAscendingReaders(): string[] {
  const readers = globSync(['functions/aws/pages.ts', 'functions/[b-z]*/*.ts', 'lib/operate/*.ts'], {
    cwd: ROOT,
  }).flatMap((path) => {
    const text = readFileSync(join(ROOT, path), 'utf8');
    return [
      ...text.matchAll(
        /(?<![.\w])(?:query|queryAll|scan)\((?<input>[^;]*?)\);|(?:,|order:) 'oldest first'[,)]/gs,
      ),
    ].flatMap(({ index, groups }) => {
      if (/newestFirst: true/.test(groups?.input ?? '')) return [];
      const declared = [
        ...text.slice(0, index).matchAll(/^(?:export )?(?:async )?(?:function|const) (\w+)/gm),
      ];
      return [declared.at(-1)?.[1] ?? path];
    });
  });
  return [...new Set(readers)].toSorted();
}

it('every reader of ascending keys names how it finds rows that are committed late', () => {
  const readers = findAscendingReaders();
  expect(readers).toContain('followPartition');
  expect(readers.filter((reader) => !(reader in RULES))).toEqual([]);
});

const engine = dynamoDb();
const TABLES = [
  ['in memory', async () => memoryTables(), casesOf(6, 12)],
  ['in the engine', () => engine.tables(), casesOf(2, 12)],
] as const;

describe.each(Object.entries(FOLLOWERS))('%s', (_reader, follow) => {
  it('gives a row whose commit was overtaken around a read', async () => {
    const { commit, buildRow, read } = follow(memoryTables());
    const [overtaken, quick] = [buildRow(0), buildRow(80)];
    const now = (ms: number) => later(NOW, seconds(COMMIT_WINDOW_SECONDS) + ms);
    await commit([quick.change]);
    const first = await read({ limit: 100 }, later(NOW, 110));
    await commit([overtaken.change]);
    const second = await read({ limit: 100, after: first.follow }, later(NOW, 140));
    const third = await read({ limit: 100, after: second.follow }, now(81));

    const ids = [first, second, third].flatMap(({ items }) => items.map(({ id }) => id));
    expect(ids.toSorted()).toEqual([overtaken.id, quick.id]);
  });

  it.each(TABLES)(
    'gives each row once, in any order of commits (%s)',
    { timeout: 60_000 * PATIENCE },
    async (_where, tablesOf, runs) => {
      // Each writer begins a request, whose time the id has, and commits up to the time-out later.
      const request = fc.record({
        beginsMs: fc.integer({ min: 0, max: 30_000 }),
        commitsAfterMs: fc.integer({ min: 0, max: seconds(API_TIMEOUT_SECONDS) }),
      });
      const writers = fc.array(fc.array(request, { minLength: 1, maxLength: 6 }), {
        minLength: 20,
        maxLength: 20,
      });
      await fc.assert(
        fc.asyncProperty(
          writers,
          fc.array(fc.integer({ min: 1, max: 3000 }), { minLength: 1, maxLength: 40 }),
          fc.integer({ min: 1, max: 12 }),
          async (requests, waits, limit) => {
            const { commit, buildRow, read } = follow(await tablesOf());
            const pending = requests
              .flat()
              .map(({ beginsMs, commitsAfterMs }) => ({
                atMs: beginsMs + commitsAfterMs,
                row: buildRow(beginsMs),
              }))
              .toSorted((one, other) => one.atMs - other.atMs);
            const all = pending.map(({ row }) => row.id);
            const ids: string[] = [];
            let after: string | undefined;
            const endMs = 41_000 + seconds(COMMIT_WINDOW_SECONDS);
            for (let [atMs, step] = [0, 0]; ; step += 1) {
              while (pending[0] !== undefined && pending[0].atMs <= atMs)
                await commit([(pending.shift() ?? expect.fail()).row.change]);
              const page = await read({ limit, after }, later(NOW, atMs));
              ids.push(...page.items.map(({ id }) => id));
              expect(page.follow, 'a follower can always continue').toBeDefined();
              after = page.follow;
              if (page.next !== undefined) continue;
              if (atMs >= endMs) break;
              atMs = Math.min(endMs, atMs + (waits[step % waits.length] ?? 1) * 10);
            }
            expect(ids.toSorted()).toEqual(all.toSorted());
          },
        ),
        { numRuns: runs },
      );
    },
  );
});

describe('a visitor', () => {
  const visitor = () => FOLLOWERS['the messages of a visitor'](memoryTables());
  const idsOf = ({ items }: Page<{ id: string }>) => items.map(({ id }) => id);

  it('reads messages oldest first, page by page, and a message as soon as it is committed', async () => {
    const { commit, buildRow, read } = visitor();
    const rows = Array.from({ length: 7 }, (_, index) => buildRow(index));
    for (const { change } of rows.toReversed()) await commit([change]);
    const ids = rows.map(({ id }) => id);

    const first = await read({ limit: 3 }, later(NOW, 10));
    const second = await read({ limit: 3, after: first.next }, later(NOW, 20));
    const third = await read({ limit: 3, after: second.next }, later(NOW, seconds(60)));
    expect([idsOf(first), idsOf(second), idsOf(third)]).toEqual([
      ids.slice(0, 3),
      ids.slice(3, 6),
      ids.slice(6),
    ]);
    expect([typeof first.next, typeof second.next, third.next]).toEqual(['string', 'string', undefined]);

    const message = buildRow(60_000);
    await commit([message.change]);
    expect(idsOf(await read({ limit: 3, after: third.follow }, later(NOW, 60_001)))).toEqual([message.id]);
  });

  it('gets at most 50 messages of the last 15 seconds, and the others then', async () => {
    const { commit, buildRow, read } = visitor();
    const rows = Array.from({ length: 120 }, (_, index) => buildRow(index));
    for (const { change } of rows) await commit([change]);
    const at = (ms: number) => later(NOW, ms);

    const first = await read({ limit: 100 }, at(200));
    const second = await read({ limit: 100, after: first.follow }, at(1000));
    const third = await read({ limit: 100, after: second.follow }, at(seconds(COMMIT_WINDOW_SECONDS) + 200));
    expect([first, second, third].map((page) => [page.items.length, page.next])).toEqual([
      [50, undefined],
      [0, undefined],
      [70, undefined],
    ]);
    expect([first, third].flatMap(idsOf)).toEqual(rows.map(({ id }) => id));
    expect(first.follow?.length).toBeLessThan(1700);
  });

  it('keeps its position when the clock of a function is behind', async () => {
    const { commit, buildRow, read } = visitor();
    const row = buildRow(0);
    await commit([row.change]);
    const ahead = await read({ limit: 5 }, later(NOW, 60_000));
    const behind = await read({ limit: 5, after: ahead.follow }, later(NOW, 50_000));

    expect(idsOf(ahead)).toEqual([row.id]);
    expect(behind).toEqual({ items: [], follow: ahead.follow });
  });
});
