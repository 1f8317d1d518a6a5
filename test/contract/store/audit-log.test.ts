import { DeleteCommand, GetCommand } from '@aws-sdk/lib-dynamodb';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { newId } from '../../../functions/aws/ids.ts';
import { committer } from '../../../functions/aws/transaction.ts';
import {
  AuditAction,
  AuditActorType,
  type AuditEntry,
  type AuditFilter,
  auditLogReader,
  recordAuditEntry,
} from '../../../functions/tenancy/audit.ts';
import { keys } from '../../../functions/tenancy/keys.ts';
import { anAuditEntry, later, NOW, seconds } from '../../builders.ts';
import { dynamoDb } from '../../engines.ts';

const engine = dynamoDb();
const DAY = seconds(86_400);

describe('the audit log', () => {
  async function aLog() {
    const { service } = await engine.tables();
    const commit = committer(service.client);
    const read = auditLogReader(service);
    const orgId = newId('org', NOW);
    return {
      service,
      orgId,
      async add(at: Date, changes: Partial<AuditEntry> = {}): Promise<AuditEntry> {
        const entry = anAuditEntry({ orgId, id: newId('aud', at), createdAt: at.toISOString(), ...changes });
        expect(await commit([recordAuditEntry(service, entry)])).toEqual({ kind: 'committed' });
        return entry;
      },
      /** Reads all pages, and does something after each. */
      async readAll(
        { limit = 100, now = NOW, ...filter }: AuditFilter & { limit?: number; now?: Date } = {},
        between: () => Promise<unknown> = async () => undefined,
      ): Promise<AuditEntry[]> {
        const all: AuditEntry[] = [];
        for (let after: string | undefined, isFirst = true; isFirst || after !== undefined; isFirst = false) {
          const { items, next } = await read(orgId, { limit, after }, filter, now);
          expect(items.length).toBeLessThanOrEqual(limit);
          all.push(...items);
          after = next;
          await between();
        }
        return all;
      },
    };
  }

  it('lists exactly the entries that meet all filters', async () => {
    const { add, readAll } = await aLog();
    const actors = ['ada', newId('key', NOW), undefined];
    const entries: AuditEntry[] = [];
    for (let index = 0; index < 60; index += 1) {
      const action = AuditAction.options[index % AuditAction.options.length];
      const actorType = AuditActorType.options[index % AuditActorType.options.length];
      const actorId = actors[index % actors.length];
      entries.push(await add(later(NOW, index * 10), { action, actorType, actorId }));
    }
    const some = <T>(values: readonly T[]) =>
      fc.option(fc.subarray([...values], { minLength: 1 }), { nil: undefined });
    const time = fc.option(
      fc.integer({ min: -10, max: 610 }).map((ms) => later(NOW, ms)),
      { nil: undefined },
    );
    const filters = fc.record({
      actions: some(AuditAction.options),
      actorTypes: some(AuditActorType.options),
      actorId: fc.constantFrom(undefined, 'ada', actors[1], 'eve'),
      from: time,
      to: time,
      limit: fc.integer({ min: 1, max: 20 }),
    });
    await fc.assert(
      fc.asyncProperty(filters, async (filter) => {
        const { actions, actorTypes, actorId, from, to } = filter;
        const wanted = entries.filter(
          (entry) =>
            (actions === undefined || actions.includes(entry.action)) &&
            (actorTypes === undefined || actorTypes.includes(entry.actorType)) &&
            (actorId === undefined || entry.actorId === actorId) &&
            (from === undefined || entry.createdAt >= from.toISOString()) &&
            (to === undefined || entry.createdAt < to.toISOString()),
        );
        const shown = await readAll({ ...filter, now: later(NOW, 1000) });
        expect(shown.map(({ id }) => id)).toEqual(wanted.map(({ id }) => id).reverse());
      }),
      { numRuns: 25 },
    );
  });

  it('has no entries of another organization', async () => {
    const [ours, theirs] = [await aLog(), await aLog()];
    const entry = await ours.add(NOW);
    expect(await ours.readAll()).toEqual([entry]);
    expect(await theirs.readAll()).toEqual([]);
  });

  it('keeps an entry for 400 days, and shows none that waits for its deletion', async () => {
    const { service, add, readAll } = await aLog();
    const entry = await add(NOW);
    const { Item } = await service.client.send(
      new GetCommand({ TableName: service.name, Key: keys.auditEntry(entry.orgId, entry.id) }),
    );
    expect(Item?.expiresAt).toBe(later(NOW, 400 * DAY).getTime() / 1000);
    expect(await readAll({ now: later(NOW, 400 * DAY) })).toEqual([entry]);
    expect(await readAll({ now: later(NOW, 400 * DAY + 1) })).toEqual([]);
    expect(await readAll({ now: later(NOW, 400 * DAY + 1), from: NOW })).toEqual([]);
  });

  it('continues after an entry that no longer exists', async () => {
    const { service, add, readAll } = await aLog();
    const [oldest, middle, newest] = [await add(NOW), await add(later(NOW, 1)), await add(later(NOW, 2))];
    let deleted = 0;
    const seen = await readAll({ limit: 1 }, async () => {
      if (deleted++ > 0) return;
      const Key = keys.auditEntry(newest.orgId, newest.id);
      await service.client.send(new DeleteCommand({ TableName: service.name, Key }));
    });
    expect(seen).toEqual([newest, middle, oldest]);
  });
});
