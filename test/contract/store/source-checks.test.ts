import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { newId } from '../../../functions/aws/ids.ts';
import { toSourceContent } from '../../../functions/knowledge/check-source.ts';
import type { CheckOutcome } from '../../../functions/knowledge/source-checks.ts';
import {
  type LeasedSource,
  RESEND_SECONDS,
  type Source,
  type StoredVersion,
} from '../../../functions/knowledge/sources.ts';
import { keys } from '../../../functions/tenancy/keys.ts';
import { aSandboxTenant, aSource, aTenant, later, NOW, seconds } from '../../builders.ts';
import { type Sources, sourcesIn } from '../../doubles/memory-sources.ts';
import { dynamoDb } from '../../engines.ts';

/*
 * What the check does with these stores is in `test/unit/knowledge`, on tables in memory.
 */
const engine = dynamoDb();
const make = async (): Promise<Sources> => sourcesIn(await engine.tables());

const LEASE = 75;
const SHARD = 3;
const HOUR = later(NOW, 3_600_000);

const lease = (stores: Sources, source: Source, now = NOW, askedAt = now) =>
  stores.lease(source, { askedAt, now, leaseSeconds: LEASE });

async function takeLease(stores: Sources, source: Source, now = NOW): Promise<LeasedSource> {
  const result = await lease(stores, source, now);
  if (result.kind !== 'leased') throw new Error(`the lease was not given: ${result.kind}`);
  return result.source;
}

/** Random words, which compress badly. */
function noise(length: number): string {
  return randomBytes(length).toString('base64').slice(0, length);
}

/** The identifier of a source with its entry in one shard of the index. */
function inOneShard(): Source['id'] {
  for (;;) {
    const id = newId('src', NOW);
    if (keys.dueSourcesOf(id) === keys.dueSources(SHARD)) return id;
  }
}

/** A new text, as a check finds it. */
function change(
  version: number,
  text: string,
  more: { kept?: StoredVersion[]; measured?: { from: number; difference: number } } = {},
): Extract<CheckOutcome, { kind: 'changed' }> {
  const { kept = [], ...rest } = more;
  return { kind: 'changed', content: toSourceContent(version, { text }), text, kept, ...rest };
}

async function settleCheck(stores: Sources, source: Source, outcome: CheckOutcome, now = NOW) {
  const holder = await takeLease(stores, source, now);
  return stores.settle(holder, outcome, later(now, 3_600_000));
}

/** A source that was not checked yet. */
async function setUp(source = aSource()) {
  const stores = await make();
  await stores.add(source);
  return { stores, source };
}

/** A source whose first text was imported. */
async function setUpImported(stores: Sources, text = 'first text'): Promise<Source> {
  const source = aSource();
  await stores.add(source);
  await settleCheck(stores, source, change(1, text));
  return source;
}

describe('the lease of a check', () => {
  it('is given to one of two checks, and records its start', async () => {
    const { stores, source } = await setUp();

    const results = await Promise.all([lease(stores, source), lease(stores, source)]);

    expect(results.map(({ kind }) => kind).toSorted()).toEqual(['busy', 'leased']);
    expect(results.find(({ kind }) => kind === 'busy')).toEqual({ kind: 'busy', since: NOW });
    expect(await stores.find(source, source.id)).toMatchObject({ starts: 1, checks: 0 });
  });

  it('can be taken again once it has ended, and not before', async () => {
    const { stores, source } = await setUp();
    await takeLease(stores, source);

    expect(await lease(stores, source, later(NOW, seconds(LEASE) - 1))).toMatchObject({ kind: 'busy' });
    expect(await lease(stores, source, later(NOW, seconds(LEASE)))).toMatchObject({
      kind: 'leased',
      source: { starts: 2 },
    });
  });

  it('is refused for a request that is older than a check that has ended', async () => {
    const { stores, source } = await setUp();
    await settleCheck(
      stores,
      source,
      { kind: 'failed', errorCode: 'timeout', error: 'timed out' },
      later(NOW, 500),
    );

    for (const askedAt of [NOW, later(NOW, 500)])
      expect(await lease(stores, source, HOUR, askedAt)).toEqual({ kind: 'checked' });
    expect(await lease(stores, source, HOUR, later(NOW, 501))).toMatchObject({ kind: 'leased' });
  });
});

describe('the end of a check', () => {
  it.each<[string, CheckOutcome]>([
    ['a new text', change(1, 'late')],
    ['a failure', { kind: 'failed', errorCode: 'timeout', error: 'late' }],
    ['no change', { kind: 'unchanged' }],
  ])('is refused with %s, and writes nothing, once another check has the lease', async (_, outcome) => {
    const { stores, source } = await setUp();
    const late = await takeLease(stores, source);
    const other = await takeLease(stores, source, later(NOW, seconds(LEASE)));

    expect(await stores.settle(late, outcome, HOUR)).toBe('refused');
    expect(await stores.versionsOf(source)).toEqual([]);
    expect(await stores.settle(other, outcome, HOUR)).toBe('done');
    expect(await stores.settle(other, outcome, HOUR)).toBe('refused');
  });
});

describe('texts of versions', () => {
  it.each([
    ['nothing', ''],
    ['a word', 'word'],
    ['every script', 'Größe 大きさ размер 🙂'],
    ['a megabyte that hardly shrinks', noise(1_000_000)],
  ])('are read as they were written: %s', async (_, text) => {
    const stores = await make();
    const source = await setUpImported(stores, text);

    const [version] = (await stores.find(source, source.id))?.stored ?? [];
    expect(version && (await stores.text(source, version))).toBe(text);
  });

  it('are all deleted with their source, repeatedly, without those of others', async () => {
    const stores = await make();
    const source = await setUpImported(stores, noise(700_000));
    const other = await setUpImported(stores);
    await settleCheck(stores, source, change(2, 'second', { kept: [{ version: 1, parts: 3 }] }), HOUR);
    await stores.remove(source, source.id);

    for (let time = 1; time <= 2; time += 1) await stores.deleteAllVersions(source);
    expect(await stores.versionsOf(source)).toEqual([]);
    expect(await stores.versionsOf(other)).toEqual([1]);
  });
});

describe('the version that admins know', () => {
  it('is the latest one in a notice', async () => {
    const stores = await make();
    const source = await setUpImported(stores);
    const at = later(NOW, 60_000);

    await stores.notified(source, source.id, 3, at);
    expect(await stores.find(source, source.id)).toMatchObject({
      announcedFrom: 1,
      baseline: 3,
      lastNotifiedAt: at.toISOString(),
    });
    for (const earlier of [2, 3]) await stores.notified(source, source.id, earlier, HOUR);
    expect(await stores.find(source, source.id)).toMatchObject({
      baseline: 3,
      lastNotifiedAt: at.toISOString(),
    });
  });

  it('does not restore a source that is gone or never imported', async () => {
    const { stores, source } = await setUp();
    await stores.notified(source, source.id, 1, NOW);
    expect(await stores.find(source, source.id)).toEqual(source);

    await stores.remove(source, source.id);
    await stores.notified(source, source.id, 1, NOW);
    await stores.announceLater(source, source.id, NOW);
    expect(await stores.find(source, source.id)).toBeUndefined();
  });

  it('can be updated during a check', async () => {
    const stores = await make();
    const source = await setUpImported(stores);
    const holder = await takeLease(stores, source, HOUR);
    await stores.notified(source, source.id, 2, HOUR);

    const outcome = change(3, 'third', { measured: { from: 1, difference: 90 } });
    await stores.settle(holder, outcome, later(HOUR, 1));

    expect(await stores.find(source, source.id)).toMatchObject({ baseline: 2, measured: { from: 1 } });
  });
});

describe('the sync of a source', () => {
  it('makes the source due a quarter of an hour later, in case its message is lost', async () => {
    const { stores, source } = await setUp({ ...aSource(), id: inOneShard() });
    await settleCheck(stores, source, { kind: 'unchanged' });
    await stores.sync(source, source.id, NOW);
    const due = (until: Date) => stores.due.find(SHARD, until);
    const at = later(NOW, seconds(RESEND_SECONDS));
    expect((await due(later(at, -1))).entries).toEqual([]);
    expect((await due(at)).entries).toMatchObject([{ id: source.id, dueAt: at.toISOString() }]);
  });

  it("and a check of the source keep each other's writes", async () => {
    const { stores, source } = await setUp();
    const holder = await takeLease(stores, source);
    await stores.sync(source, source.id, NOW);
    expect(await stores.settle(holder, { kind: 'unchanged' }, HOUR)).toBe('done');
    expect(await stores.find(source, source.id)).toMatchObject({
      checks: 1,
      syncedAt: NOW.toISOString(),
    });
  });
});

describe('the due index of sources', () => {
  const find = async (stores: Sources, until: Date) => {
    const pages = await Promise.all(Array.from({ length: 16 }, (_, shard) => stores.due.find(shard, until)));
    return pages.flatMap(({ entries }) => entries);
  };

  it('has a new source a quarter of an hour later, in case its message is lost', async () => {
    const { stores, source } = await setUp(aSource(aSandboxTenant()));

    expect(await find(stores, later(NOW, seconds(RESEND_SECONDS) - 1))).toEqual([]);
    expect(await find(stores, later(NOW, seconds(RESEND_SECONDS)))).toMatchObject([{ id: source.id }]);
  });

  it('moves an entry unless it was moved meanwhile or is gone', async () => {
    const { stores, source } = await setUp();
    const [entry] = await find(stores, HOUR);
    if (entry === undefined) throw new Error('a new source is in the index');

    await stores.due.postpone(entry, HOUR);
    await stores.due.postpone(entry, later(HOUR, 1));
    expect(await find(stores, later(HOUR, 1))).toMatchObject([{ id: source.id, dueAt: HOUR.toISOString() }]);

    await stores.remove(source, source.id);
    await stores.due.postpone({ ...entry, dueAt: HOUR.toISOString() }, later(HOUR, 1));
    expect(await find(stores, later(HOUR, 1))).toEqual([]);
    expect(await stores.find(source, source.id)).toBeUndefined();
  });

  it('returns all entries of a shard once, the earliest first, in all its pages', async () => {
    const stores = await make();
    const tenant = aTenant();
    const added = Array.from({ length: 130 }, (_, index) =>
      aSource({ ...tenant, id: inOneShard(), createdAt: later(NOW, (index * 37) % 130).toISOString() }),
    );
    await Promise.all(added.map((source) => stores.add(source)));

    const ids: string[] = [];
    let after: Record<string, unknown> | undefined;
    let pages = 0;
    do {
      const page = await stores.due.find(SHARD, HOUR, after);
      ids.push(...page.entries.map(({ id }) => id));
      after = page.next;
      pages += 1;
    } while (after !== undefined);

    expect(ids).toEqual(added.toSorted((a, b) => a.createdAt.localeCompare(b.createdAt)).map(({ id }) => id));
    expect(pages).toBeGreaterThan(1);
  });
});
