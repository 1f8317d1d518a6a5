import { brotliCompressSync, brotliDecompressSync, constants } from 'node:zlib';
import * as z from 'zod/mini';
import { all, assign, attributes, expression } from '../aws/expression.ts';
import { Defect } from '../aws/logger.ts';
import {
  EXISTS,
  isHeld,
  type Lease,
  lease,
  queryAll,
  release,
  remove,
  type Table,
  update,
} from '../aws/table.ts';
import { buildPut, buildUpdate, type Change, type Commit } from '../aws/transaction.ts';
import type { AttemptError } from '../delivery/delivery.ts';
import { outboxStore } from '../delivery/outbox.ts';
import type { Notice } from '../events/bus.ts';
import { buildSandboxMark, keys } from '../tenancy/keys.ts';
import type { Tenant } from '../tenancy/tenant.ts';
import {
  type LeasedSource,
  Source,
  type SourceContent,
  type SourceRef,
  type StoredVersion,
} from './sources.ts';

/** Result of a check. */
export type CheckOutcome =
  | ({ kind: 'failed' } & AttemptError)
  /** The text is unchanged. `content` after a new fetch: title and validators may differ. */
  | { kind: 'unchanged'; content?: SourceContent; announcement?: Announcement }
  | ({
      kind: 'changed';
      content: SourceContent;
      text: string;
      /** Versions kept beside the new one. */
      kept: StoredVersion[];
      /** Empty for the first version, which becomes the one that admins know. */
    } & Partial<Announcement>);

/** How the current text differs from the version that admins know. */
export interface Announcement {
  measured: { from: number; difference: number };
  /** Set when the difference exceeds the organization's threshold. */
  notice?: Notice;
}

export type LeaseResult =
  | { kind: 'leased'; source: LeasedSource }
  | { kind: 'gone' }
  /** A check that began at `askedAt` or later is complete. */
  | { kind: 'checked' }
  /** Another check is in progress since `since`. */
  | { kind: 'busy'; since: Date };

/** Attributes of the last check's failure. */
const ERROR = ['lastError', 'lastErrorCode'];

export type SourceCheckStore = ReturnType<typeof sourceChecks>;

/** Writes of source checks, refused unless the check holds the source's lease. */
export function sourceChecks(knowledge: Table, outbox: Table, commit: Commit) {
  const versions = sourceVersions(knowledge);
  const notices = outboxStore(outbox);

  /** The key and the update that end a check, with further attributes to set and remove. */
  function buildCheckEnd(
    { id, lease: held, ...of }: LeasedSource,
    nextCheckAt: Date,
    sets: Record<string, unknown>,
    removes: readonly string[] = [],
  ) {
    const next = nextCheckAt.toISOString();
    const set = assign({ ...sets, lastCheckedAt: held.since, nextCheckAt: next, dueAt: next });
    const removed = attributes(['lease', 'starts', ...removes]);
    const change = { update: expression`SET ${set} REMOVE ${removed} ADD checks ${1}`, if: isHeld(held) };
    return [keys.source(of, id), change] as const;
  }

  /** @throws Contended */
  async function commitEnd(
    { id }: LeasedSource,
    [key, end]: ReturnType<typeof buildCheckEnd>,
    changes: readonly Change[],
  ): Promise<'done' | 'refused'> {
    const result = await commit([buildUpdate(knowledge, key, { refusal: 'lease-lost', ...end }), ...changes]);
    if (result.kind === 'committed') return 'done';
    if (result.refusal === 'lease-lost') return 'refused';
    throw new Defect(`the result of a check of ${id} was refused: ${result.refusal}`);
  }

  return {
    /** Leases a source for a check that was requested at `askedAt`, and counts the start. */
    async lease(
      ref: SourceRef,
      { askedAt, now, leaseSeconds }: { askedAt: Date; now: Date; leaseSeconds: number },
    ): Promise<LeaseResult> {
      const asked = askedAt.toISOString();
      const taken = await lease(knowledge, keys.source(ref, ref.id), {
        now,
        seconds: leaseSeconds,
        also: { since: now.toISOString() },
        add: expression`starts ${1}`,
        if: all(EXISTS, expression`(attribute_not_exists(lastCheckedAt) OR lastCheckedAt < ${asked})`),
      });
      if (taken.row === undefined) return { kind: 'gone' };
      const source = Source.parse(taken.row);
      if (taken.kind === 'leased')
        return { kind: 'leased', source: { ...source, lease: { ...taken.lease, since: now.toISOString() } } };
      if (source.lastCheckedAt !== undefined && source.lastCheckedAt >= asked) return { kind: 'checked' };
      return { kind: 'busy', since: new Date(source.lease?.since ?? now) };
    },

    /**
     * Records a check's result and ends its lease. Refused when the lease is lost, or the source is gone.
     * @throws Contended
     */
    async settle(
      source: LeasedSource,
      outcome: CheckOutcome,
      nextCheckAt: Date,
    ): Promise<'done' | 'refused'> {
      const applyEnd = async ([key, end]: ReturnType<typeof buildCheckEnd>) =>
        (await update(knowledge, key, end)).kind;
      switch (outcome.kind) {
        case 'failed': {
          const { error: lastError, errorCode: lastErrorCode } = outcome;
          const sets = { failures: source.failures + 1, lastError, lastErrorCode };
          return applyEnd(buildCheckEnd(source, nextCheckAt, sets));
        }
        case 'unchanged': {
          const { content, announcement: { measured, notice } = {} } = outcome;
          const sets = {
            failures: 0,
            ...(content && { content }),
            ...(measured && { measured }),
            ...(notice && { stored: markAnnounced(source) }),
          };
          const removes = [...ERROR, ...(measured ? ['announceAt'] : [])];
          const end = buildCheckEnd(source, nextCheckAt, sets, removes);
          return notice ? commitEnd(source, end, [notices.appendNotice(notice)]) : applyEnd(end);
        }
        case 'changed': {
          const { content, text, kept, measured, notice } = outcome;
          const { version } = content;
          const { parts, changes } = versions.add(source, version, text);
          const sets = {
            content,
            stored: [...kept, { version, parts, ...(notice && { announced: true }) }],
            failures: 0,
            lastChangedAt: source.lease.since,
            ...(measured === undefined ? { baseline: version } : { measured }),
          };
          const removes = [...ERROR, 'announceAt', ...(measured ? [] : ['measured', 'announcedFrom'])];
          return commitEnd(source, buildCheckEnd(source, nextCheckAt, sets, removes), [
            ...changes,
            ...(notice ? [notices.appendNotice(notice)] : []),
          ]);
        }
      }
    },

    /** Makes a source due at `until`, unless it is due earlier or is gone. */
    async makeDue(ref: SourceRef, until: Date): Promise<void> {
      const dueAt = until.toISOString();
      const change = { update: expression`SET dueAt = ${dueAt}`, if: expression`dueAt > ${dueAt}` };
      await update(knowledge, keys.source(ref, ref.id), change);
    },

    text: versions.read,
    deleteVersions: versions.remove,
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

const Part = z.object({ text: z.instanceof(Uint8Array) });

/** Texts of source versions, compressed and split into parts. */
export function sourceVersions(knowledge: Table) {
  const isOfSource = (ref: SourceRef) => expression`pk = ${keys.versions(ref, ref.id)}`;

  return {
    /** @returns undefined when a part is missing */
    async read(ref: SourceRef, { version, parts }: StoredVersion): Promise<string | undefined> {
      const [prefix = ''] = keys.versionPart(ref, ref.id, version, 0).sk.split('#');
      const where = expression`${isOfSource(ref)} AND begins_with(sk, ${`${prefix}#`})`;
      const texts = (await queryAll(knowledge, { where })).map((row) => Part.parse(row).text);
      return texts.length === parts ? brotliDecompressSync(Buffer.concat(texts)).toString('utf8') : undefined;
    },

    /** Adds a version, in the transaction that makes it current. */
    add(ref: SourceRef, version: number, text: string): { parts: number; changes: Change[] } {
      const compressed = brotliCompressSync(text, { params: { [constants.BROTLI_PARAM_QUALITY]: QUALITY } });
      const parts = Math.ceil(compressed.length / PART_BYTES);
      const changes = Array.from({ length: parts }, (_, part): Change => {
        const row = {
          ...keys.versionPart(ref, ref.id, version, part),
          ...buildSandboxMark(ref),
          part,
          text: compressed.subarray(part * PART_BYTES, (part + 1) * PART_BYTES),
        };
        // No condition: the writer holds the source's lease.
        return buildPut(knowledge, row, { refusal: 'exists', if: undefined });
      });
      return { parts, changes };
    },

    async remove(ref: SourceRef, versions: readonly StoredVersion[]): Promise<void> {
      const parts = versions.flatMap(({ version, parts }) =>
        Array.from({ length: parts }, (_, part) => keys.versionPart(ref, ref.id, version, part)),
      );
      await Promise.all(parts.map((key) => remove(knowledge, key)));
    },

    async removeAll(ref: SourceRef): Promise<void> {
      const parts = await queryAll(knowledge, { where: isOfSource(ref), attributes: ['pk', 'sk'] });
      for (const { pk, sk } of parts) await remove(knowledge, { pk: String(pk), sk: String(sk) });
    },
  };
}

/** Permission for one of a tenant's concurrent checks. */
export interface CheckSlot {
  tenant: Tenant;
  name: string;
  lease: Lease;
}

/** `until` in milliseconds since the epoch. */
const Taken = z.object({ until: z.number() });

export type CheckSlotStore = ReturnType<typeof checkSlots>;

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
      let name = pickRandom(names);
      for (let tries = 1; name !== undefined && tries <= share; tries += 1) {
        const taken = await lease(knowledge, keys.checkSlots(tenant), {
          now,
          seconds: leaseSeconds,
          name,
          set: buildSandboxMark(tenant),
        });
        if (taken.kind === 'leased') return { tenant, name, lease: taken.lease };
        const { row = {} } = taken;
        name = pickRandom(
          names.filter((slot) => (Taken.safeParse(row[slot]).data?.until ?? 0) <= now.getTime()),
        );
      }
      return undefined;
    },

    /** Does nothing when another check has taken the slot after the lease ended. */
    async release({ tenant, name, lease: held }: CheckSlot): Promise<void> {
      await release(knowledge, keys.checkSlots(tenant), held, name);
    },
  };
}
