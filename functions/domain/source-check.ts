import { type BusEvent, createNotice, type Notice } from './bus.ts';
import { computeDifference, countWords, findChanges } from './difference.ts';
import type { TraceId } from './ids.ts';
import {
  type LeasedSource,
  type Source,
  type SourceContent,
  type SourceRef,
  type StoredVersion,
  toSourceContent,
} from './source.ts';
import type { Organization } from './tenant.ts';

/** What a check finds at a source's URL. */
export type CheckFinding =
  | { kind: 'fetched'; text: string; title?: string; etag?: string; lastModified?: string }
  | { kind: 'not-modified' }
  /** `error`: one line for the source's owner. */
  | { kind: 'failed'; error: string };

/** Result of a check. */
export type CheckOutcome =
  | { kind: 'failed'; error: string }
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
interface Announcement {
  measured: { from: number; difference: number };
  /** Set when the difference exceeds the organization's threshold. */
  notice?: Notice;
}

/** A finished check to store. */
export interface CheckSettlement {
  outcome: CheckOutcome;
  nextCheckAt: Date;
}

const MAX_ERROR = 300;
/** UTF-16 code units of added and of removed text in a notice: ten notices fit into one request. */
const MAX_CHANGES = 1000;
/** Announced versions kept beside the version that admins know. */
const MAX_ANNOUNCED = 8;

/** Consecutive lost workers of a source's checks before a check counts as failed without a try. */
export const MAX_STARTS = 5;

/** Shortens the error to one line. */
export const failCheck = (error: string): Extract<CheckOutcome, { kind: 'failed' }> => ({
  kind: 'failed',
  error: error.replaceAll(/\s+/gu, ' ').trim().slice(0, MAX_ERROR).toWellFormed(),
});

/** Compares a finding with the stored content. A new text needs further processing. */
export function compareContent(
  source: Pick<Source, 'content'>,
  found: CheckFinding,
): CheckOutcome | { kind: 'new'; text: string; content: SourceContent } {
  const known = source.content;
  if (found.kind === 'failed') return failCheck(found.error);
  if (found.kind === 'not-modified')
    return known === undefined
      ? failCheck('the server answered 304 (Not Modified), but no version is stored')
      : { kind: 'unchanged' };
  const content = toSourceContent((known?.version ?? 0) + 1, found);
  return content.digest === known?.digest
    ? { kind: 'unchanged', content: { ...content, version: known.version } }
    : { kind: 'new', text: found.text, content };
}

/**
 * Versions whose texts are needed: the current one, the two that the last e-mail compared, and announced
 * ones, each of which may become the one that admins know.
 */
export function listNeededVersions({
  stored,
  content,
  baseline = 0,
  announcedFrom,
}: Pick<Source, 'stored' | 'content' | 'baseline' | 'announcedFrom'>): StoredVersion[] {
  const announced = stored
    .filter((version) => version.announced && version.version > baseline)
    .toSorted((a, b) => b.version - a.version)
    .slice(0, MAX_ANNOUNCED);
  const compared = [content?.version, baseline, announcedFrom];
  return stored.filter((version) => compared.includes(version.version) || announced.includes(version));
}

/**
 * The version to measure a new text from: the one that admins know, or the next stored one when that text is
 * gone. Undefined before the first import.
 */
export const getMeasuredVersion = ({
  stored,
  baseline = 0,
}: Pick<Source, 'stored' | 'baseline'>): StoredVersion | undefined =>
  stored.toSorted((a, b) => a.version - b.version).find(({ version }) => version >= baseline);

/**
 * Decides what a new text means (docs/specification.md, Content-change notifications).
 * @param before the text to measure from; undefined when there is none, and the new text becomes it
 * @param settings of the organization
 */
export function describeChange(
  source: LeasedSource,
  found: { text: string; content: SourceContent },
  before: string | undefined,
  settings: Pick<Organization, 'contentChangeNotifications' | 'contentChangeThreshold'> | undefined,
  now: Date,
  traceId?: TraceId,
): Extract<CheckOutcome, { kind: 'changed' }> {
  const kept = listNeededVersions(source);
  const { text, content } = found;
  if (before === undefined || source.baseline === undefined) return { kind: 'changed', content, text, kept };
  const id = `${source.id}#changed#${content.version}`;
  const announcement = buildAnnouncement(source, [before, text], settings, {
    id,
    version: content.version,
    now,
    traceId,
  });
  return { kind: 'changed', content, text, kept, ...announcement };
}

/**
 * Measures a text from the version that admins know, with a notice for them when it differs enough.
 * @param notice.id of the notice
 */
export function buildAnnouncement(
  { id: sourceId, url, kind, orgId, generation, baseline = 0 }: Source,
  [before, after]: [before: string, after: string],
  settings: Pick<Organization, 'contentChangeNotifications' | 'contentChangeThreshold'> | undefined,
  { id, version, now, traceId }: { id: string; version: number; now: Date; traceId?: TraceId },
): Announcement {
  const difference = computeDifference(before, after);
  const measured = { from: baseline, difference };
  if (settings?.contentChangeNotifications !== true || difference <= settings.contentChangeThreshold)
    return { measured };
  const data = { sourceId, url, kind, version, difference, ...findChanges(before, after, MAX_CHANGES) };
  const context = { tenant: { orgId, generation }, now, traceId };
  return { measured, notice: createNotice('source.changed', id, data, context) };
}

/** Builds the bus event of a due source. A source that becomes due again has another event id. */
export const buildDueEvent = (
  { id, orgId, generation, dueAt }: SourceRef & { dueAt: string },
  now: Date,
): BusEvent => ({
  id: `${id}#due#${dueAt}`,
  type: 'source.check',
  orgId,
  generation,
  createdAt: now.toISOString(),
  data: { sourceId: id },
});

/**
 * Refused receives of a message (no slot in the organization's share) before the check returns to the due
 * index.
 */
export const MAX_REFUSALS = 15;

const GROWTH = 1.5;
const LONGEST_SECONDS = 30;

/**
 * Seconds that a refused message stays invisible: 1 at first, half as much again with each receive, at most
 * 30. Most checks take less than a second. The sum is below `RESEND_SECONDS`, so a source has about one
 * message at a time.
 * @param random from 0 to 1; up to half of the wait is dropped
 */
export const computeRefusalDelay = (receives: number, random: number): number =>
  Math.ceil(Math.min(GROWTH ** (receives - 1), LONGEST_SECONDS) * (1 - random / 2));

/** UTF-16 code units of added and of removed text in a response. */
export const MAX_SHOWN_CHANGES = 4000;

/** Two versions to compare; undefined where the text of one is not stored. */
interface VersionPair {
  from: StoredVersion | undefined;
  to: StoredVersion | undefined;
}

/** The version that admins know and the current one; undefined before the first import. */
export const getComparedVersions = (
  source: Pick<Source, 'stored' | 'baseline' | 'content'>,
): VersionPair => ({
  from: source.baseline === undefined ? undefined : getMeasuredVersion(source),
  to: source.stored.find(({ version }) => version === source.content?.version),
});

/** The versions that the last e-mail was about; undefined before the first e-mail. */
const getAnnouncedVersions = ({
  stored,
  announcedFrom: baseline,
  baseline: announced,
}: Pick<Source, 'stored' | 'baseline' | 'announcedFrom'>): VersionPair => ({
  from: baseline === undefined ? undefined : getMeasuredVersion({ stored, baseline }),
  to: stored.find(({ version }) => version === announced),
});

/**
 * Lists added and removed lines between two versions of a source, as untrusted text. Without both texts there
 * is nothing to compare.
 */
function listChanges({ from, to }: VersionPair, getText: (version: StoredVersion) => string | undefined) {
  const toVersionView = (version: StoredVersion | undefined, text: string | undefined) =>
    version === undefined || text === undefined
      ? undefined
      : { version: version.version, words: countWords(text) };
  const [before, after] = [from, to].map((version) => version && getText(version));
  const isCompared = before !== undefined && after !== undefined;
  return {
    from: toVersionView(from, before),
    to: toVersionView(to, after),
    difference: isCompared ? computeDifference(before, after) : undefined,
    ...(isCompared ? findChanges(before, after, MAX_SHOWN_CHANGES) : { added: '', removed: '' }),
  };
}

type Compared = Pick<Source, 'id' | 'stored' | 'baseline' | 'announcedFrom' | 'content' | 'lastNotifiedAt'>;

/** The stored versions that `listSourceChanges` compares. */
export const listComparedVersions = (source: Compared): StoredVersion[] => [
  ...new Set(
    [getComparedVersions(source), getAnnouncedVersions(source)].flatMap(({ from, to }) =>
      [from, to].filter((version) => version !== undefined),
    ),
  ),
];

/** Lists the changes since the last e-mail, and those that the last e-mail was about. */
export function listSourceChanges(source: Compared, getText: (version: StoredVersion) => string | undefined) {
  const announced = getAnnouncedVersions(source);
  return {
    sourceId: source.id,
    ...listChanges(getComparedVersions(source), getText),
    announced:
      announced.from === undefined || source.lastNotifiedAt === undefined
        ? undefined
        : { ...listChanges(announced, getText), announcedAt: source.lastNotifiedAt },
  };
}
