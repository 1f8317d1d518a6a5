import { randomUUID } from 'node:crypto';
import { brotliCompressSync, brotliDecompressSync, constants } from 'node:zlib';
import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb';
import { DeleteCommand, QueryCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { unmarshall } from '@aws-sdk/util-dynamodb';
import * as z from 'zod/mini';
import { Defect } from '../domain/problem.ts';
import {
  type LeasedSource,
  Source,
  type SourceLease,
  type SourceRef,
  type StoredVersion,
} from '../domain/source.ts';
import type { CheckOutcome, CheckSettlement } from '../domain/source-check.ts';
import type { Tenant } from '../domain/tenant.ts';
import { buildSandboxMark, keys } from './keys.ts';
import { outboxStore } from './outbox.ts';
import { type Table, update } from './table.ts';
import { type Change, type Commit, retryContention } from './transaction.ts';

export type LeaseResult =
  | { kind: 'leased'; source: LeasedSource }
  | { kind: 'gone' }
  /** A check that began at `askedAt` or later is complete. */
  | { kind: 'checked' }
  /** Another check is in progress since `since`. */
  | { kind: 'busy'; since: Date };

type ChangedOutcome = Extract<CheckOutcome, { kind: 'changed' }>;

/** Writes of source checks, refused unless the check holds the source's lease. */
export function sourceChecks(knowledge: Table, outbox: Table, commit: Commit) {
  const table = { TableName: knowledge.name };
  const versions = sourceVersions(knowledge);
  const notices = outboxStore(outbox);

  /** Update that ends a check, with further attributes to set and remove. */
  function buildCheckEnd(
    { id, lease, ...of }: LeasedSource,
    { nextCheckAt }: CheckSettlement,
    sets: Record<string, unknown>,
    removes: readonly string[],
  ) {
    const next = nextCheckAt.toISOString();
    const fields = { ...sets, lastCheckedAt: lease.since, nextCheckAt: next, dueAt: next };
    const names = Object.keys(fields);
    return {
      Key: keys.source(of, id),
      UpdateExpression: `SET ${names.map((name) => `#${name} = :${name}`).join(', ')} REMOVE ${['lease', 'starts', ...removes].join(', ')} ADD checks :one`,
      ConditionExpression: 'lease.#token = :token',
      ExpressionAttributeNames: {
        '#token': 'token',
        ...Object.fromEntries(names.map((name) => [`#${name}`, name])),
      },
      ExpressionAttributeValues: {
        ':token': lease.token,
        ':one': 1,
        ...Object.fromEntries(names.map((name) => [`:${name}`, fields[name as keyof typeof fields]])),
      },
    };
  }

  /** Retries, because sync requests write to the source in transactions. */
  const applyEnd = async (write: ReturnType<typeof buildCheckEnd>): Promise<'done' | 'refused'> =>
    (await retryContention(() => update(knowledge, write))) ? 'done' : 'refused';

  const toEndChange = (end: ReturnType<typeof buildCheckEnd>): Change => ({
    refusal: 'lease-lost',
    write: { Update: { ...table, ...end } },
  });

  /** @throws Contended */
  async function commitEnd({ id }: LeasedSource, changes: readonly Change[]): Promise<'done' | 'refused'> {
    const result = await commit(changes);
    if (result.kind === 'committed') return 'done';
    if (result.refusal === 'lease-lost') return 'refused';
    throw new Defect(`the result of a check of ${id} was refused: ${result.refusal}`);
  }

  function buildNewVersion(
    source: LeasedSource,
    settlement: CheckSettlement,
    outcome: ChangedOutcome,
  ): Change[] {
    const { content, text, kept, measured, notice } = outcome;
    const { version } = content;
    const { parts, changes } = versions.add(source, version, text);
    const stored = [...kept, { version, parts, ...(notice === undefined ? {} : { announced: true }) }];
    const sets = {
      content,
      stored,
      failures: 0,
      lastChangedAt: source.lease.since,
      ...(measured === undefined ? { baseline: version } : { measured }),
    };
    const removes = [
      'lastError',
      'announceAt',
      ...(measured === undefined ? ['measured', 'announcedFrom'] : []),
    ];
    return [
      toEndChange(buildCheckEnd(source, settlement, sets, removes)),
      ...changes,
      ...(notice === undefined ? [] : [notices.appendNotice(notice)]),
    ];
  }

  return {
    /**
     * Leases a source for a check and counts the start.
     * @param askedAt time of the request
     */
    async lease(
      ref: SourceRef,
      { askedAt, now, leaseSeconds }: { askedAt: Date; now: Date; leaseSeconds: number },
    ): Promise<LeaseResult> {
      const lease: SourceLease = {
        token: randomUUID(),
        since: now.toISOString(),
        until: now.getTime() + leaseSeconds * 1000,
      };
      try {
        const command = new UpdateCommand({
          ...table,
          Key: keys.source(ref, ref.id),
          UpdateExpression: 'SET lease = :lease ADD starts :one',
          ConditionExpression:
            'attribute_exists(pk) AND (attribute_not_exists(lease) OR lease.#until <= :nowMs) AND (attribute_not_exists(lastCheckedAt) OR lastCheckedAt < :askedAt)',
          ExpressionAttributeNames: { '#until': 'until' },
          ExpressionAttributeValues: {
            ':lease': lease,
            ':one': 1,
            ':nowMs': now.getTime(),
            ':askedAt': askedAt.toISOString(),
          },
          ReturnValues: 'ALL_NEW',
          ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
        });
        const { Attributes } = await retryContention(() => knowledge.client.send(command));
        return { kind: 'leased', source: { ...Source.parse(Attributes), lease } };
      } catch (error) {
        if (!(error instanceof ConditionalCheckFailedException)) throw error;
        if (error.Item === undefined) return { kind: 'gone' };
        const found = Source.parse(unmarshall(error.Item));
        // The SDK repeats a request whose response was lost, so this lease may already be on the row.
        if (found.lease?.token === lease.token) return { kind: 'leased', source: { ...found, lease } };
        if (found.lastCheckedAt !== undefined && found.lastCheckedAt >= askedAt.toISOString())
          return { kind: 'checked' };
        return { kind: 'busy', since: new Date(found.lease?.since ?? now) };
      }
    },

    /**
     * Records a check's result and ends its lease. Refused when the lease is lost, or the source is gone.
     * @throws Contended
     */
    async settle(source: LeasedSource, settlement: CheckSettlement): Promise<'done' | 'refused'> {
      const { outcome } = settlement;
      switch (outcome.kind) {
        case 'changed':
          return commitEnd(source, buildNewVersion(source, settlement, outcome));
        case 'unchanged': {
          const { content, announcement: { measured, notice } = {} } = outcome;
          const sets = {
            failures: 0,
            ...(content === undefined ? {} : { content }),
            ...(measured === undefined ? {} : { measured }),
          };
          const removes = ['lastError', ...(measured === undefined ? [] : ['announceAt'])];
          if (notice === undefined) return applyEnd(buildCheckEnd(source, settlement, sets, removes));
          const end = buildCheckEnd(source, settlement, { ...sets, stored: markAnnounced(source) }, removes);
          return commitEnd(source, [toEndChange(end), notices.appendNotice(notice)]);
        }
        case 'failed': {
          const sets = { failures: source.failures + 1, lastError: outcome.error };
          return applyEnd(buildCheckEnd(source, settlement, sets, []));
        }
      }
    },

    /** Makes a source due at `until`, unless it is due earlier or is gone. */
    async makeDue(ref: SourceRef, until: Date): Promise<void> {
      await retryContention(() =>
        update(knowledge, {
          Key: keys.source(ref, ref.id),
          UpdateExpression: 'SET dueAt = :until',
          ConditionExpression: 'dueAt > :until',
          ExpressionAttributeValues: { ':until': until.toISOString() },
        }),
      );
    },

    text: versions.read,
    /** Deletes texts of versions that are no longer needed. */
    deleteVersions: versions.remove,
    /** Deletes all texts of a deleted source. */
    deleteAllVersions: versions.removeAll,
  };
}

/** The versions of a source whose current one is announced. */
const markAnnounced = ({ stored, content }: LeasedSource): StoredVersion[] =>
  stored.map((version) => (version.version === content?.version ? { ...version, announced: true } : version));

/** Compressed bytes per item, below DynamoDB's limit of 400 KB. */
const PART_BYTES = 300_000;
/** Halves text at least, and takes 20 ms per megabyte; higher qualities save little. */
const QUALITY = 5;

const Part = z.object({ part: z.int(), text: z.instanceof(Uint8Array) });

/** Texts of source versions, compressed and split into parts. */
export function sourceVersions(knowledge: Table) {
  const table = { TableName: knowledge.name };

  /** @param prefix of the sort key; undefined for all rows, because DynamoDB refuses an empty prefix */
  async function readRows(
    ref: SourceRef,
    prefix: string | undefined,
    projection?: string,
  ): Promise<Record<string, unknown>[]> {
    const found: Record<string, unknown>[] = [];
    let after: Record<string, unknown> | undefined;
    do {
      const { Items = [], LastEvaluatedKey } = await knowledge.client.send(
        new QueryCommand({
          ...table,
          ConsistentRead: true,
          KeyConditionExpression: prefix === undefined ? 'pk = :pk' : 'pk = :pk AND begins_with(sk, :prefix)',
          ExpressionAttributeValues: {
            ':pk': keys.versions(ref, ref.id),
            ...(prefix === undefined ? {} : { ':prefix': prefix }),
          },
          ...(projection === undefined ? {} : { ProjectionExpression: projection }),
          ...(after === undefined ? {} : { ExclusiveStartKey: after }),
        }),
      );
      found.push(...Items);
      after = LastEvaluatedKey;
    } while (after !== undefined);
    return found;
  }

  const remove = (Key: Record<string, unknown>) =>
    knowledge.client.send(new DeleteCommand({ ...table, Key }));

  return {
    /** @returns undefined when a part is missing */
    async read(ref: SourceRef, { version, parts }: StoredVersion): Promise<string | undefined> {
      const [prefix = ''] = keys.versionPart(ref, ref.id, version, 0).sk.split('#');
      const found = (await readRows(ref, `${prefix}#`)).map((row) => Part.parse(row));
      if (found.length !== parts) return undefined;
      return brotliDecompressSync(Buffer.concat(found.map(({ text }) => text))).toString('utf8');
    },

    /** Adds a version, in the transaction that makes it current. */
    add(ref: SourceRef, version: number, text: string): { parts: number; changes: Change[] } {
      const compressed = brotliCompressSync(text, { params: { [constants.BROTLI_PARAM_QUALITY]: QUALITY } });
      const parts = Math.ceil(compressed.length / PART_BYTES);
      const changes = Array.from(
        { length: parts },
        (_, part): Change => ({
          // No condition: the writer holds the source's lease.
          refusal: 'exists',
          write: {
            Put: {
              ...table,
              Item: {
                ...keys.versionPart(ref, ref.id, version, part),
                ...buildSandboxMark(ref),
                part,
                text: compressed.subarray(part * PART_BYTES, (part + 1) * PART_BYTES),
              },
            },
          },
        }),
      );
      return { parts, changes };
    },

    async remove(ref: SourceRef, versions: readonly StoredVersion[]): Promise<void> {
      const parts = versions.flatMap(({ version, parts }) =>
        Array.from({ length: parts }, (_, part) => keys.versionPart(ref, ref.id, version, part)),
      );
      await Promise.all(parts.map((key) => remove({ ...key })));
    },

    async removeAll(ref: SourceRef): Promise<void> {
      for (const { pk, sk } of await readRows(ref, undefined, 'pk, sk')) await remove({ pk, sk });
    },
  };
}

/** Permission for one of a tenant's concurrent checks. */
export interface CheckSlot {
  tenant: Tenant;
  name: string;
  token: string;
}

/** `until` in milliseconds since the epoch. */
const Taken = z.object({ token: z.string(), until: z.number() });

/**
 * Limits a tenant's concurrent checks to a number of leased slots. If a worker fails, its slot is free when
 * the lease ends.
 */
export function checkSlots(knowledge: Table, share: number) {
  const names = Array.from({ length: share }, (_, index) => `slot${index}`);
  const pickRandom = (some: readonly string[]): string | undefined =>
    some[Math.floor(Math.random() * some.length)];

  return {
    /** @returns undefined when other checks have or take all slots */
    async take(
      tenant: Tenant,
      { now, leaseSeconds }: { now: Date; leaseSeconds: number },
    ): Promise<CheckSlot | undefined> {
      const token = randomUUID();
      const lease = { token, until: now.getTime() + leaseSeconds * 1000 };
      const marks = buildSandboxMark(tenant);
      const sets = ['#slot = :lease', ...Object.keys(marks).map((name) => `${name} = :${name}`)];
      let name = pickRandom(names);
      for (let tries = 1; name !== undefined && tries <= share; tries += 1) {
        try {
          await knowledge.client.send(
            new UpdateCommand({
              TableName: knowledge.name,
              Key: keys.checkSlots(tenant),
              UpdateExpression: `SET ${sets.join(', ')}`,
              ConditionExpression: 'attribute_not_exists(#slot) OR #slot.#until <= :now',
              ExpressionAttributeNames: { '#slot': name, '#until': 'until' },
              ExpressionAttributeValues: {
                ':lease': lease,
                ':now': now.getTime(),
                ...Object.fromEntries(Object.entries(marks).map(([mark, value]) => [`:${mark}`, value])),
              },
              ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
            }),
          );
          return { tenant, name, token };
        } catch (error) {
          if (!(error instanceof ConditionalCheckFailedException)) throw error;
          const row = unmarshall(error.Item ?? {});
          const parseLease = (slot: string) => Taken.safeParse(row[slot]).data;
          // The SDK repeats a request whose response was lost, so this lease may already be on the row.
          if (parseLease(name)?.token === token) return { tenant, name, token };
          name = pickRandom(names.filter((slot) => (parseLease(slot)?.until ?? 0) <= now.getTime()));
        }
      }
      return undefined;
    },

    /** Does nothing when another check has taken the slot after the lease ended. */
    async release({ tenant, name, token }: CheckSlot): Promise<void> {
      await update(knowledge, {
        Key: keys.checkSlots(tenant),
        UpdateExpression: 'REMOVE #slot',
        ConditionExpression: '#slot.#token = :token',
        ExpressionAttributeNames: { '#slot': name, '#token': 'token' },
        ExpressionAttributeValues: { ':token': token },
      });
    },
  };
}
