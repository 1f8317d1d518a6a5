import { type BusEvent, NOTICES } from '../domain/bus.ts';
import type { TraceId } from '../domain/ids.ts';
import { Defect, InProgressError } from '../domain/problem.ts';
import { createGenerationCheck, type OrganizationStates } from '../domain/sandbox.ts';
import {
  type LeasedSource,
  RESEND_SECONDS,
  type SourceRef,
  type StoredVersion,
  scheduleNextCheck,
} from '../domain/source.ts';
import {
  buildAnnouncement,
  type CheckFinding,
  type CheckOutcome,
  type CheckSettlement,
  compareContent,
  computeRefusalDelay,
  describeChange,
  failCheck,
  getComparedVersions,
  getMeasuredVersion,
  listNeededVersions,
  MAX_REFUSALS,
  MAX_STARTS,
} from '../domain/source-check.ts';
import type { Organization, Tenant } from '../domain/tenant.ts';
import type { Log } from '../platform/log-codes.ts';

export interface CheckSourcePorts<Slot = unknown> {
  sources: {
    lease(
      ref: SourceRef,
      terms: { askedAt: Date; now: Date; leaseSeconds: number },
    ): Promise<
      | { kind: 'leased'; source: LeasedSource }
      | { kind: 'gone' }
      | { kind: 'checked' }
      | { kind: 'busy'; since: Date }
    >;
    settle(source: LeasedSource, settlement: CheckSettlement): Promise<'done' | 'refused'>;
    /** Makes a source due at the latest at `until`. */
    makeDue(ref: SourceRef, until: Date): Promise<void>;
    text(ref: SourceRef, version: StoredVersion): Promise<string | undefined>;
    deleteVersions(ref: SourceRef, versions: readonly StoredVersion[]): Promise<void>;
    deleteAllVersions(ref: SourceRef): Promise<void>;
  };
  /** Concurrent checks of a tenant. A slot that is not released is free when its lease ends. */
  slots: {
    take(tenant: Tenant, terms: { now: Date; leaseSeconds: number }): Promise<Slot | undefined>;
    release(slot: Slot): Promise<void>;
  };
  organizations: { find(orgId: Organization['id']): Promise<Organization | undefined> };
  organizationStates: OrganizationStates;
  /** Fetches a source's URL through the gate. Never rejects for failures of the outside world. */
  fetchContent(source: LeasedSource): Promise<CheckFinding>;
  onChecked(outcome: CheckOutcome): void;
  log: Log;
  now: () => Date;
  /** From 0 to 1. */
  random: () => number;
}

export interface CheckSourceSettings {
  checkEverySeconds: number;
  /** Longer than the function's timeout. */
  leaseSeconds: number;
}

/** A check that began before the request is in progress, and does not answer it. Retry when it has ended. */
export class CheckInProgress extends InProgressError {
  override name = 'CheckInProgress';
}

/** The organization uses all its slots. Retry when a check has ended; this does not count as a start. */
export class ShareInUse extends InProgressError {
  override name = 'ShareInUse';
}

/**
 * Processes events of sources: a check is due, or a source was deleted. Events may repeat, be late or
 * overlap: a source checked after the event's creation is not checked again, and of two concurrent checks one
 * writes.
 */
export function checkSource<Slot>(
  ports: CheckSourcePorts<Slot>,
  { checkEverySeconds, leaseSeconds }: CheckSourceSettings,
) {
  const { sources, slots, organizations, log, now } = ports;
  const checkGeneration = createGenerationCheck(ports.organizationStates);

  /** Compares a new text with the version that admins know, and makes room for it. */
  async function buildChange(
    source: LeasedSource,
    found: Parameters<typeof describeChange>[1],
    traceId: TraceId,
  ): Promise<CheckOutcome> {
    const from = getMeasuredVersion(source);
    const before = from && (await sources.text(source, from));
    if (from !== undefined && before === undefined)
      log('VERSION_TEXT_MISSING', { sourceId: source.id, version: from.version, traceId });
    const settings = before === undefined ? undefined : await organizations.find(source.orgId);
    const outcome = describeChange(source, found, before, settings, now(), traceId);
    // Delete while the versions are still listed: a repeated deletion is harmless, an unlisted text would
    // stay forever.
    const needed = listNeededVersions(source);
    await sources.deleteVersions(
      source,
      source.stored.filter((version) => !needed.includes(version)),
    );
    return outcome;
  }

  /** Announces a change that came too soon after an e-mail, once its time has come. */
  async function announceLater(
    source: LeasedSource,
    outcome: Extract<CheckOutcome, { kind: 'unchanged' }>,
    traceId: TraceId,
  ): Promise<CheckOutcome> {
    const { announceAt } = source;
    if (announceAt === undefined || announceAt > now().toISOString()) return outcome;
    const { from, to } = getComparedVersions(source);
    const [before, after] = await Promise.all(
      [from, to].map((version) => version && sources.text(source, version)),
    );
    if (to === undefined || before === undefined || after === undefined) return outcome;
    const settings = await organizations.find(source.orgId);
    const id = `${source.id}#changed#${to.version}#${announceAt}`;
    const context = { id, version: to.version, now: now(), traceId };
    return { ...outcome, announcement: buildAnnouncement(source, [before, after], settings, context) };
  }

  async function determineOutcome(source: LeasedSource, traceId: TraceId): Promise<CheckOutcome> {
    if (source.starts > MAX_STARTS) return failCheck('the content could not be processed');
    const result = compareContent(source, await ports.fetchContent(source));
    if (result.kind === 'new') return buildChange(source, result, traceId);
    return result.kind === 'unchanged' ? announceLater(source, result, traceId) : result;
  }

  async function check(ref: SourceRef, askedAt: Date, traceId: TraceId): Promise<void> {
    const leased = await sources.lease(ref, { askedAt, now: now(), leaseSeconds });
    if (leased.kind === 'busy' && leased.since < askedAt)
      throw new CheckInProgress(`a check of ${ref.id} that began earlier is in progress`);
    if (leased.kind !== 'leased') return;
    const { source } = leased;
    const outcome = await determineOutcome(source, traceId);
    const begunAt = new Date(source.lease.since);
    const settled = await sources.settle(source, {
      outcome,
      nextCheckAt: scheduleNextCheck(begunAt, checkEverySeconds, ports.random()),
    });
    if (settled === 'refused') {
      log('CHECK_TOO_LATE', { sourceId: ref.id, traceId });
      return;
    }
    ports.onChecked(outcome);
  }

  /**
   * Drops a message that was refused often before it becomes a dead letter: its source is in the due index.
   * @throws ShareInUse when the message is to be retried
   */
  async function refuse(ref: SourceRef, receives: number, traceId: TraceId): Promise<void> {
    if (receives < MAX_REFUSALS)
      throw new ShareInUse(
        `${ref.orgId} uses all its concurrent checks`,
        computeRefusalDelay(receives, ports.random()),
      );
    await sources.makeDue(ref, new Date(now().getTime() + RESEND_SECONDS * 1000));
    log('CHECK_POSTPONED', { sourceId: ref.id, orgId: ref.orgId, traceId });
  }

  /** @param receives receive count of the message */
  return async (
    { type, orgId, generation, createdAt, data, traceId }: BusEvent,
    receives = 1,
  ): Promise<void> => {
    if (type !== 'source.check' && type !== 'source.deleted')
      throw new Defect(`unexpected event type for a source: ${type}`);
    const { sourceId: id } = NOTICES[type].parse(data);
    const ref = { id, orgId, generation };
    // The purge deletes its rows.
    if ((await checkGeneration(ref)) === 'over') return;
    if (type === 'source.deleted') return sources.deleteAllVersions(ref);
    const slot = await slots.take(ref, { now: now(), leaseSeconds });
    if (slot === undefined) return refuse(ref, receives, traceId);
    try {
      await check(ref, new Date(createdAt), traceId);
    } finally {
      await slots.release(slot);
    }
  };
}
