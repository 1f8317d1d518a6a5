import type { Source, StoredVersion } from './sources.ts';
import { normalizeText } from './text.ts';

/**
 * Finds words: runs of letters, marks and digits (docs/specification.md, Content-change notifications). In
 * scripts without spaces each character is a word, so that a changed sentence is not one changed word.
 */
export const findWords = (text: string) =>
  // Not a constant of the module, which would take a millisecond of each function's cold start.
  text.matchAll(
    /[[\p{L}\p{M}\p{N}]&&[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}]]|[[\p{L}\p{M}\p{N}]--[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}]]+/gv,
  );

function countEachWord(text: string): Map<string, number> {
  const counts = new Map<string, number>();
  for (const [word] of findWords(normalizeText(text))) counts.set(word, (counts.get(word) ?? 0) + 1);
  return counts;
}

const sumCounts = (counts: Map<string, number>): number =>
  [...counts.values()].reduce((total, count) => total + count, 0);

export const countWords = (text: string): number => sumCounts(countEachWord(text));

/**
 * Computes how much two texts differ: the Sørensen–Dice distance of their multisets of words, in linear time.
 * Order and whitespace do not count, case does.
 * @returns percent from 0 to 100 with at most two decimals. Exactly 0 when the words are equal, exactly 100
 * when no word is shared; other values are rounded to at least 0.01 and at most 99.99
 */
export function computeDifference(before: string, after: string): number {
  const old = countEachWord(before);
  const current = countEachWord(after);
  const total = sumCounts(old) + sumCounts(current);
  let shared = 0;
  for (const [word, count] of current) shared += Math.min(count, old.get(word) ?? 0);

  if (2 * shared === total) return 0;
  if (shared === 0) return 100;
  const percent = Math.round((10_000 * (total - 2 * shared)) / total) / 100;
  return Math.min(99.99, Math.max(0.01, percent));
}

/**
 * Returns the added and the removed lines in their order or, where these do not fit, as `findPassages` does.
 * A line that occurs more often than before is added; a moved line is neither. Whitespace around lines does
 * not count.
 * @param maxCharacters of each, in UTF-16 code units, including ellipses
 */
export function findChanges(before: string, after: string, maxCharacters: number) {
  return compareLines(before, after, (passages) => {
    const text = passages.join('\n');
    return text.length <= maxCharacters ? text : pickLargest(passages, maxCharacters);
  });
}

/**
 * Returns the three largest passages that were added, and those that were removed, largest first, with an
 * empty line between two. A passage is a run of such lines; each is shortened to its share of the characters.
 */
export const findPassages = (before: string, after: string, maxCharacters: number) =>
  compareLines(before, after, (passages) => pickLargest(passages, maxCharacters));

function compareLines(before: string, after: string, show: (passages: readonly string[]) => string) {
  const old = splitLines(before);
  const current = splitLines(after);
  return { added: show(findExtraPassages(current, old)), removed: show(findExtraPassages(old, current)) };
}

const MAX_PASSAGES = 3;
const BETWEEN = '\n\n';

function pickLargest(passages: readonly string[], maxCharacters: number): string {
  const largest = passages.toSorted((a, b) => b.length - a.length).slice(0, MAX_PASSAGES);
  const room = (maxCharacters - (largest.length - 1) * BETWEEN.length) / largest.length;
  return largest
    .map((passage) => buildExcerpt(passage, Math.floor(room)))
    .join(BETWEEN)
    .trim();
}

const splitLines = (text: string): string[] =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');

/** Runs of lines that occur more often in one text than in the other; of equal lines, the last ones. */
function findExtraPassages(lines: string[], others: string[]): string[] {
  const left = new Map<string, number>();
  for (const line of others) left.set(line, (left.get(line) ?? 0) + 1);
  const passages: string[][] = [];
  let isRun = false;
  for (const line of lines) {
    const count = left.get(line) ?? 0;
    left.set(line, count - 1);
    if (count <= 0) {
      if (isRun) passages.at(-1)?.push(line);
      else passages.push([line]);
    }
    isRun = count <= 0;
  }
  return passages.map((run) => run.join('\n'));
}

const ELLIPSIS = '…';

function buildExcerpt(text: string, maxCharacters: number): string {
  if (text.length <= maxCharacters) return text;
  if (maxCharacters < ELLIPSIS.length) return '';
  return text.slice(0, findWordEnd(text, maxCharacters - ELLIPSIS.length)).trimEnd() + ELLIPSIS;
}

/** Where to cut a text at the end of a word. A word longer than `room` is cut at a character. */
function findWordEnd(text: string, room: number): number {
  // Two more units show whether the last word and character continue.
  for (const { index, 0: word } of findWords(text.slice(0, room + 2)))
    if (index > 0 && index < room && index + word.length > room) return index;
  return text.slice(0, room).isWellFormed() ? room : room - 1;
}

/**
 * Versions whose texts are needed: the current one, the two that the last e-mail compared, and the last eight
 * announced ones, each of which may become the one that admins know.
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
    .slice(0, 8);
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

/** UTF-16 code units of added and of removed text in a response. */
export const MAX_SHOWN_CHANGES = 4000;

/** Two versions to compare; undefined where the text of one is not stored. */
interface VersionPair {
  from: StoredVersion | undefined;
  to: StoredVersion | undefined;
}

/** The version that admins know and the current one; undefined before the first import. */
export const getComparedVersions = ({
  stored,
  baseline,
  content,
}: Pick<Source, 'stored' | 'baseline' | 'content'>): VersionPair => ({
  from: baseline === undefined ? undefined : getMeasuredVersion({ stored, baseline }),
  to: stored.find(({ version }) => version === content?.version),
});

/** The versions that the last e-mail was about; undefined before the first e-mail. */
const getAnnouncedVersions = ({ stored, announcedFrom, baseline }: Compared): VersionPair => ({
  from: announcedFrom === undefined ? undefined : getMeasuredVersion({ stored, baseline: announcedFrom }),
  to: stored.find(({ version }) => version === baseline),
});

/**
 * Lists added and removed lines between two versions of a source, as untrusted text. Without both texts there
 * is nothing to compare.
 */
function listChanges({ from, to }: VersionPair, getText: (version: StoredVersion) => string | undefined) {
  const [before, after] = [from, to].map((version) => version && getText(version));
  const toVersionView = (version: StoredVersion | undefined, text: string | undefined) =>
    version && text !== undefined ? { version: version.version, words: countWords(text) } : undefined;
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
