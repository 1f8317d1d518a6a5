import { createHash } from 'node:crypto';
import type { OrgId, TraceId } from '../aws/ids.ts';
import type { Log } from '../aws/log-codes.ts';
import { Defect } from '../aws/logger.ts';
import type { AttemptError } from '../delivery/delivery.ts';
import { type BusEvent, createNotice, NOTICES } from '../events/bus.ts';
import { InProgressError } from '../http/problem.ts';
import { createGenerationCheck, type OrganizationStates } from '../tenancy/organizations.ts';
import type { OrganizationSettings } from '../tenancy/tenant.ts';
import {
  computeDifference,
  countWords,
  findPassages,
  getComparedVersions,
  getMeasuredVersion,
  listNeededVersions,
} from './difference.ts';
import type { Announcement, CheckOutcome, CheckSlotStore, SourceCheckStore } from './source-checks.ts';
import { type CheckFinding, unusable } from './source-content.ts';
import {
  type LeasedSource,
  RESEND_SECONDS,
  type Source,
  type SourceContent,
  type SourceRef,
} from './sources.ts';

interface CheckSourceContext {
  sources: SourceCheckStore;
  slots: CheckSlotStore;
  organizations: { find(orgId: OrgId): Promise<OrganizationSettings | undefined> };
  organizationStates: OrganizationStates;
  /** Fetches a source's URL through the gate. Never rejects for failures of the outside world. */
  fetchContent(source: LeasedSource): Promise<CheckFinding>;
  onChecked(outcome: CheckOutcome): void;
  log: Log;
  now: () => Date;
  /** From 0 to 1. */
  random: () => number;
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
 * @param settings.leaseSeconds longer than the function's timeout
 */
export function checkSource(
  context: CheckSourceContext,
  { checkEverySeconds, leaseSeconds }: { checkEverySeconds: number; leaseSeconds: number },
) {
  const { sources, slots, organizations, log, now } = context;
  const checkGeneration = createGenerationCheck(context.organizationStates);

  /** Compares a new text with the version that admins know, and makes room for it. */
  async function buildChange(
    source: LeasedSource,
    fetched: NewContent,
    traceId: TraceId,
  ): Promise<CheckOutcome> {
    const from = getMeasuredVersion(source);
    const before = from && (await sources.text(source, from));
    if (from !== undefined && before === undefined)
      log('VERSION_TEXT_MISSING', { sourceId: source.id, version: from.version, traceId });
    const settings = before === undefined ? undefined : await organizations.find(source.orgId);
    const outcome = describeChange(source, fetched, before, settings, now(), traceId);
    // Delete while the versions are still listed: a repeated deletion is harmless, an unlisted text would
    // stay forever.
    await sources.deleteVersions(
      source,
      source.stored.filter((version) => !outcome.kept.includes(version)),
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
    const notice = { version: to.version, suffix: `#${announceAt}`, now: now(), traceId };
    return { ...outcome, announcement: buildAnnouncement(source, [before, after], settings, notice) };
  }

  async function determineOutcome(source: LeasedSource, traceId: TraceId): Promise<CheckOutcome> {
    if (source.starts > MAX_STARTS) return failCheck(unusable('the content could not be processed'));
    const result = compareContent(source, await context.fetchContent(source));
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
    const nextCheckAt = scheduleNextCheck(begunAt, checkEverySeconds, context.random());
    if ((await sources.settle(source, outcome, nextCheckAt)) === 'done') context.onChecked(outcome);
    else log('CHECK_TOO_LATE', { sourceId: ref.id, traceId });
  }

  /**
   * Drops a message that was refused often before it becomes a dead letter: its source is in the due index.
   * @throws ShareInUse when the message is to be retried
   */
  async function refuse(ref: SourceRef, receives: number, traceId: TraceId): Promise<void> {
    if (receives < MAX_REFUSALS)
      throw new ShareInUse(
        `${ref.orgId} uses all its concurrent checks`,
        computeRefusalDelay(receives, context.random()),
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
    const ref = { id: NOTICES[type].parse(data).sourceId, orgId, generation };
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

/**
 * Schedules the next check: after the interval at the latest, up to a tenth earlier at random, so that
 * sources created together do not stay in step.
 * @param random from 0 to 1
 */
export const scheduleNextCheck = (checkedAt: Date, everySeconds: number, random: number): Date =>
  new Date(checkedAt.getTime() + Math.round(everySeconds * 1000 * (1 - 0.1 * random)));

/** UTF-16 code units of added and of removed text in a notice: ten notices fit into one request. */
const MAX_CHANGES = 1000;
/** Consecutive lost workers of a source's checks before a check counts as failed without a try. */
export const MAX_STARTS = 5;

/** Shortens the error to one line of at most 300 UTF-16 code units. */
const failCheck = ({ error, errorCode }: AttemptError): Extract<CheckOutcome, { kind: 'failed' }> => ({
  kind: 'failed',
  errorCode,
  error: error.replaceAll(/\s+/gu, ' ').trim().slice(0, 300).toWellFormed(),
});

/** A text to store as a new version. */
interface NewContent {
  text: string;
  content: SourceContent;
}

/** Compares a finding with the stored content. A new text needs further processing. */
function compareContent(
  { content: stored }: Pick<Source, 'content'>,
  finding: CheckFinding,
): CheckOutcome | ({ kind: 'new' } & NewContent) {
  if (finding.kind === 'failed') return failCheck(finding);
  if (finding.kind === 'not-modified')
    return stored === undefined
      ? failCheck(unusable('the server answered 304 (Not Modified), but no version is stored'))
      : { kind: 'unchanged' };
  const { kind: _, ...fetched } = finding;
  const content = toSourceContent((stored?.version ?? 0) + 1, fetched);
  return content.digest === stored?.digest
    ? { kind: 'unchanged', content: { ...content, version: stored.version } }
    : { kind: 'new', text: fetched.text, content };
}

/** Properties to store of a fetched text; the title has at most 300 UTF-16 code units. */
export const toSourceContent = (
  version: number,
  { text, title, ...validators }: Omit<Extract<CheckFinding, { kind: 'fetched' }>, 'kind'>,
): SourceContent => ({
  version,
  digest: createHash('sha256').update(text).digest('hex'),
  words: countWords(text),
  title: title?.trim().slice(0, 300).toWellFormed() || undefined,
  ...validators,
});

/**
 * Decides what a new text means (docs/specification.md, Content-change notifications).
 * @param before the text to measure from; undefined when there is none, and the new text becomes it
 * @param settings of the organization
 */
function describeChange(
  source: LeasedSource,
  { text, content }: NewContent,
  before: string | undefined,
  settings: OrganizationSettings | undefined,
  now: Date,
  traceId?: TraceId,
): Extract<CheckOutcome, { kind: 'changed' }> {
  const change = { kind: 'changed', content, text, kept: listNeededVersions(source) } as const;
  if (before === undefined || source.baseline === undefined) return change;
  const notice = { version: content.version, now, traceId };
  return { ...change, ...buildAnnouncement(source, [before, text], settings, notice) };
}

/**
 * Measures a text from the version that admins know, with a notice for them when it differs enough.
 * @param notice.suffix of its id, for a later one about the same version
 */
function buildAnnouncement(
  { id: sourceId, url, kind, orgId, generation, baseline = 0 }: Source,
  [before, after]: [before: string, after: string],
  settings: OrganizationSettings | undefined,
  notice: { version: number; suffix?: string; now: Date; traceId?: TraceId },
): Announcement {
  const difference = computeDifference(before, after);
  const measured = { from: baseline, difference };
  if (settings?.contentChangeNotifications !== true || difference <= settings.contentChangeThreshold)
    return { measured };
  const { version, suffix, now, traceId } = notice;
  const isPostponed = suffix !== undefined && { isPostponed: true };
  const changes = findPassages(before, after, MAX_CHANGES);
  const data = { sourceId, url, kind, version, difference, ...isPostponed, ...changes };
  const context = { tenant: { orgId, generation }, now, traceId };
  return {
    measured,
    notice: createNotice('source.changed', `${sourceId}#changed#${version}${suffix ?? ''}`, data, context),
  };
}

/**
 * Refused receives of a message (no slot in the organization's share) before the check returns to the due
 * index.
 */
export const MAX_REFUSALS = 15;

/**
 * Seconds that a refused message stays invisible: 1 at first, half as much again with each receive, at most
 * 30. Most checks take less than a second. The sum is below `RESEND_SECONDS`, so a source has about one
 * message at a time.
 * @param random from 0 to 1; up to half of the wait is dropped
 */
export const computeRefusalDelay = (receives: number, random: number): number =>
  Math.ceil(Math.min(1.5 ** (receives - 1), 30) * (1 - random / 2));
