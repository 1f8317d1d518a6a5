import type { Notice } from '../../functions/domain/bus.ts';
import {
  type LeasedSource,
  MAX_SOURCES,
  RESEND_SECONDS,
  type Source,
  type SourceRef,
  type StoredVersion,
} from '../../functions/domain/source.ts';
import type { CheckSettlement } from '../../functions/domain/source-check.ts';
import type { Tenant } from '../../functions/domain/tenant.ts';
import type { CheckSourcePorts } from '../../functions/engine/check-source.ts';
import type { ScheduleSourceChecksPorts } from '../../functions/engine/schedule-source-checks.ts';
import { buildTenantKey, keys } from '../../functions/store/keys.ts';

type Sources = CheckSourcePorts['sources'];
type LeaseTerms = Parameters<Sources['lease']>[1];
type Due = ScheduleSourceChecksPorts['due'];

interface Row {
  source: Source;
  dueAt: string;
}

const PAGE = 100;
const placeOf = ({ id, generation, orgId }: SourceRef): string =>
  `${buildTenantKey({ orgId, generation })}/${id}`;

/** Sources with their texts and due times, in memory. */
export class MemorySources implements Sources {
  readonly #rows = new Map<string, Row>();
  readonly #texts = new Map<string, string>();
  #leases = 0;
  /** The notices to the service's own workers in settlements. */
  readonly notices: Notice[] = [];
  readonly #sharded: boolean;

  constructor({ sharded }: { sharded: boolean }) {
    this.#sharded = sharded;
  }

  async find({ orgId, generation }: Tenant, id: Source['id']): Promise<Source | undefined> {
    return structuredClone(this.#rows.get(placeOf({ id, orgId, generation }))?.source);
  }

  async add(source: Source): Promise<'added' | 'source-limit'> {
    const count = [...this.#rows.values()].filter(
      (row) => buildTenantKey(row.source) === buildTenantKey(source),
    ).length;
    if (count >= MAX_SOURCES) return 'source-limit';
    const dueAt = new Date(Date.parse(source.createdAt) + RESEND_SECONDS * 1000).toISOString();
    this.#rows.set(placeOf(source), { source: structuredClone(source), dueAt });
    return 'added';
  }

  async sync(
    { orgId, generation }: Tenant,
    id: Source['id'],
    { now, cooldownSeconds }: { now: Date; cooldownSeconds: number },
  ): Promise<'committed' | 'source-synced'> {
    const row = this.#rows.get(placeOf({ id, orgId, generation }));
    const before = new Date(now.getTime() - cooldownSeconds * 1000).toISOString();
    if (row === undefined || (row.source.syncedAt ?? '') > before) return 'source-synced';
    row.source.syncedAt = now.toISOString();
    row.dueAt = new Date(now.getTime() + RESEND_SECONDS * 1000).toISOString();
    return 'committed';
  }

  async remove({ orgId, generation }: Tenant, id: Source['id']): Promise<'removed' | 'source-missing'> {
    return this.#rows.delete(placeOf({ id, orgId, generation })) ? 'removed' : 'source-missing';
  }

  async notified({ orgId, generation }: Tenant, id: Source['id'], version: number, at: Date): Promise<void> {
    const source = this.#rows.get(placeOf({ id, orgId, generation }))?.source;
    if (source?.baseline === undefined || source.baseline >= version) return;
    source.announcedFrom = source.baseline;
    source.baseline = version;
    source.lastNotifiedAt = at.toISOString();
  }

  async announceLater({ orgId, generation }: Tenant, id: Source['id'], at: Date): Promise<void> {
    const source = this.#rows.get(placeOf({ id, orgId, generation }))?.source;
    if (source !== undefined) source.announceAt = at.toISOString();
  }

  /** When a source is due; undefined when there is no such source. */
  dueAt(ref: SourceRef): string | undefined {
    return this.#rows.get(placeOf(ref))?.dueAt;
  }

  /** The versions of stored texts, of a source that may be gone. */
  versionsOf(ref: SourceRef): number[] {
    return [...this.#texts.keys()]
      .filter((place) => place.startsWith(`${placeOf(ref)}/`))
      .map((place) => Number(place.split('/').at(-1)))
      .toSorted((a, b) => a - b);
  }

  async lease(ref: SourceRef, { askedAt, now, leaseSeconds }: LeaseTerms): ReturnType<Sources['lease']> {
    const source = this.#rows.get(placeOf(ref))?.source;
    if (source === undefined) return { kind: 'gone' };
    if (source.lastCheckedAt !== undefined && source.lastCheckedAt >= askedAt.toISOString())
      return { kind: 'checked' };
    if (source.lease !== undefined && source.lease.until > now.getTime())
      return { kind: 'busy', since: new Date(source.lease.since) };
    this.#leases += 1;
    const lease = {
      token: String(this.#leases),
      since: now.toISOString(),
      until: now.getTime() + leaseSeconds * 1000,
    };
    source.lease = lease;
    source.starts += 1;
    return { kind: 'leased', source: { ...structuredClone(source), lease } };
  }

  async settle(leased: LeasedSource, { outcome, nextCheckAt }: CheckSettlement): Promise<'done' | 'refused'> {
    const row = this.#rows.get(placeOf(leased));
    if (row?.source.lease?.token !== leased.lease.token) return 'refused';
    const { lease, lastError, measured, ...rest } = row.source;
    const ended: Source = {
      ...rest,
      ...(measured === undefined ? {} : { measured }),
      starts: 0,
      checks: rest.checks + 1,
      failures: 0,
      lastCheckedAt: lease.since,
      nextCheckAt: nextCheckAt.toISOString(),
    };
    row.dueAt = ended.nextCheckAt;
    if (outcome.kind === 'failed')
      row.source = { ...ended, failures: rest.failures + 1, lastError: outcome.error };
    else if (outcome.kind === 'unchanged') {
      const { content, announcement } = outcome;
      const { announceAt, ...announced } = ended;
      const { notice } = announcement ?? {};
      row.source = {
        ...(announcement === undefined ? ended : { ...announced, measured: announcement.measured }),
        ...(content === undefined ? {} : { content }),
        stored: ended.stored.map((version) =>
          notice !== undefined && version.version === ended.content?.version
            ? { ...version, announced: true }
            : version,
        ),
      };
      if (notice !== undefined) this.notices.push(notice);
    } else {
      const { content, text, kept, notice } = outcome;
      const { version } = content;
      const { measured: _, announceAt, ...unmeasured } = ended;
      const stored: StoredVersion = {
        version,
        parts: 1,
        ...(notice === undefined ? {} : { announced: true }),
      };
      this.#texts.set(`${placeOf(leased)}/${version}`, text);
      if (notice !== undefined) this.notices.push(notice);
      row.source = {
        ...unmeasured,
        content,
        stored: [...kept, stored],
        lastChangedAt: lease.since,
        ...(outcome.measured === undefined ? { baseline: version } : { measured: outcome.measured }),
      };
    }
    return 'done';
  }

  async makeDue(ref: SourceRef, until: Date): Promise<void> {
    const row = this.#rows.get(placeOf(ref));
    if (row !== undefined && row.dueAt > until.toISOString()) row.dueAt = until.toISOString();
  }

  async text(ref: SourceRef, { version }: StoredVersion): Promise<string | undefined> {
    return this.#texts.get(`${placeOf(ref)}/${version}`);
  }

  async deleteVersions(ref: SourceRef, versions: readonly StoredVersion[]): Promise<void> {
    for (const { version } of versions) this.#texts.delete(`${placeOf(ref)}/${version}`);
  }

  async deleteAllVersions(ref: SourceRef): Promise<void> {
    for (const version of this.versionsOf(ref)) this.#texts.delete(`${placeOf(ref)}/${version}`);
  }

  /** The due index, in all shards or in one. */
  readonly due: Due = {
    find: async (shard, until, after) => {
      const all = [...this.#rows.values()]
        .filter(({ source, dueAt }) => dueAt <= until.toISOString() && this.#isIn(source, shard))
        .map(({ source: { id, orgId, generation }, dueAt }) => ({ id, orgId, generation, dueAt }))
        .toSorted((a, b) => (`${a.dueAt}/${a.id}` < `${b.dueAt}/${b.id}` ? -1 : 1))
        .filter(({ dueAt, id }) => after === undefined || `${dueAt}/${id}` > String(after.place));
      const entries = all.slice(0, PAGE);
      const last = entries.at(-1);
      return {
        entries,
        ...(last === undefined || entries.length === all.length
          ? {}
          : { next: { place: `${last.dueAt}/${last.id}` } }),
      };
    },
    postpone: async (entry, until) => {
      const row = this.#rows.get(placeOf(entry));
      if (row?.dueAt === entry.dueAt) row.dueAt = until.toISOString();
    },
  };

  #isIn({ id }: Source, shard: number): boolean {
    return this.#sharded ? keys.dueSourcesOf(id) === keys.dueSources(shard) : shard === 0;
  }
}
