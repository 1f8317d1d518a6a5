import { changesIn, countWords, differenceOf } from './difference.ts';
import type { Source, StoredVersion } from './source.ts';
import { measuredFrom } from './source-check.ts';

/** Of what came, and of what went, in UTF-16 code units: some screens full. */
export const MAX_SHOWN_CHANGES = 4000;

/** The version that admins know, and the present one; undefined before the first import. */
export const comparedVersions = (
  source: Pick<Source, 'stored' | 'baseline' | 'content'>,
): { from: StoredVersion | undefined; to: StoredVersion | undefined } => ({
  from: source.baseline === undefined ? undefined : measuredFrom(source),
  to: source.stored.find(({ version }) => version === source.content?.version),
});

/**
 * What came and what went between two versions of a source. Where a text is missing there is nothing to compare.
 * @returns lines of the texts as they are, whatever they say
 */
export function changesSince(
  sourceId: Source['id'],
  { from, before }: { from: StoredVersion | undefined; before: string | undefined },
  { to, after }: { to: StoredVersion | undefined; after: string | undefined },
) {
  const shown = (version: StoredVersion | undefined, text: string | undefined) =>
    version === undefined || text === undefined
      ? undefined
      : { version: version.version, words: countWords(text) };
  const isCompared = before !== undefined && after !== undefined;
  return {
    sourceId,
    from: shown(from, before),
    to: shown(to, after),
    difference: isCompared ? differenceOf(before, after) : undefined,
    ...(isCompared ? changesIn(before, after, MAX_SHOWN_CHANGES) : { added: '', removed: '' }),
  };
}
