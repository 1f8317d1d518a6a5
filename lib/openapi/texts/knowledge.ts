import * as knowledge from '../../../functions/api/knowledge/routes.ts';
import { MAX_RECEIVER_URL_LENGTH } from '../../../functions/receivers/url-text.ts';
import * as examples from '../example-values.ts';
import { CREATED, described, type OperationText } from '../operation-text.ts';
import { RECEIVER_URL } from './webhooks.ts';

const PROGRAMS = `**In a sandbox**, nothing is fetched. \`simulate\` in the query of \`url\` sets the result of
each check, as in \`registerWebhook\`: \`https://example.com/prices?simulate=200,304,503,200\`. Each check takes
the next response, and the last one repeats. Without it, every check finds the same text.

| Response | Result of the check |
|---|---|
| \`200\` | a text of 60 words that no other response has: each \`200\` changes the whole text, except when the last one repeats |
| \`304\` | the text is unchanged |
| another status, \`timeout\` or another failure | no content; \`lastError\` has the reason |

Use \`syncSource\` for the next check without waiting for an hour. \`simulate-speed\` has no effect.`;

/** As it is created, before its first check. */
const pendingSource = {
  ...examples.created('src', '2026-11-20T10:02:11.064Z'),
  kind: 'url',
  url: 'https://www.example.com/help/delivery-times',
  name: 'Delivery times',
  status: 'pending',
  title: null,
  words: null,
  version: null,
  difference: null,
  lastCheckedAt: null,
  lastChangedAt: null,
  lastNotifiedAt: null,
  nextCheckAt: '2026-11-20T10:02:11.064Z',
  lastError: null,
  lastErrorCode: null,
  warnings: [],
} as const;

/** The same a day later: it changed once, by less than admins are notified of. */
export const source = {
  ...pendingSource,
  status: 'ok',
  title: 'How long does delivery take?',
  words: 412,
  version: 2,
  difference: 8.25,
  lastCheckedAt: '2026-11-21T09:58:40.527Z',
  lastChangedAt: '2026-11-21T05:01:17.930Z',
  nextCheckAt: '2026-11-21T10:55:02.216Z',
} as const;

/** The text that was imported. */
const sourceContent = {
  sourceId: source.id,
  version: source.version,
  words: source.words,
  title: source.title,
  text: 'How long does delivery take?\nExpress delivery takes one working day.',
  warnings: [],
} as const;

/** What it says now and what it said before, where they differ. */
const sourceChanges = {
  sourceId: source.id,
  from: { version: 1, words: 405 },
  to: { version: source.version, words: source.words },
  difference: source.difference,
  added: 'Express delivery takes one working day.\nOrders of before noon leave on the same day.',
  removed: 'Express delivery takes two working days.',
  announced: null,
} as const;

export const operations = {
  createSource: {
    tag: 'Knowledge',
    summary: 'Create a content source',
    mostTokens: 2,
    description: `Creates a content source, which is imported within moments (see its \`status\`) and then
checked every hour.

The URL must be public, as in \`registerWebhook\`. At most five redirects are followed. A response can have 5
MiB, its text 1 MB. If a check fails, the source becomes \`failing\` with the reason in \`lastError\`, keeps its
content, and is checked again an hour later.

When the text has changed by more than the organization’s \`contentChangeThreshold\` since the import or the
last e-mail, admins get an e-mail, at most one a day for each URL.

An organization can have 1,000 sources; beyond that the request fails with \`LIMIT_EXCEEDED\`.

${PROGRAMS}`,
    body: { kind: source.kind, url: source.url, name: source.name },
    answer: 'The source, with status `pending`.',
    data: pendingSource,
    location: `/api/v1/knowledge/sources/${source.id}`,
  },
  listSources: {
    tag: 'Knowledge',
    summary: 'List content sources',
    mostTokens: 2,
    description: 'Returns the organization’s sources, newest first.',
    answer: 'A page of sources.',
    data: [source],
  },
  readSource: {
    tag: 'Knowledge',
    summary: 'Read a content source',
    description: 'Returns a source with the result of its last check and a summary of its content.',
    answer: 'The source.',
    data: source,
  },
  readSourceContent: {
    tag: 'Knowledge',
    summary: 'Read the content of a content source',
    mostTokens: 2,
    description: `Returns the text that was imported, of the current version: all of it, at most 1 MB, plain
text as found, never markup. Before the first import the answer is 404.`,
    answer: 'The content.',
    data: sourceContent,
  },
  readSourceChanges: {
    tag: 'Knowledge',
    summary: 'Read the changes of a content source',
    mostTokens: 5,
    description: `Returns the lines that were added and removed between the version of the last e-mail to
admins, or the first version, and the current one. Moved lines are not listed. All lines are plain text as
found, never markup. \`announced\` has the changes that the last e-mail was about, until the next e-mail.

Before the import, \`from\`, \`to\` and \`difference\` are null.`,
    answer: 'The changes.',
    data: sourceChanges,
  },
  deleteSource: {
    tag: 'Knowledge',
    summary: 'Delete a content source',
    mostTokens: 2,
    description:
      'Deletes a source with its content. A check in progress may still fetch it. Deleting a source that does not exist succeeds, so retries are safe.',
    answer: 'The source is deleted.',
  },
  syncSource: {
    tag: 'Knowledge',
    summary: 'Check a content source now',
    mostTokens: 2,
    description: `Requests a check of a source now, regardless of \`nextCheckAt\`. The check has ended when
\`lastCheckedAt\` is later than this request.

A second request for a source within a minute fails with \`RATE_LIMITED\` and \`Retry-After\`, unless it repeats
the \`Idempotency-Key\`. The concurrent checks of an organization are limited; further ones wait.`,
    answer: 'The source before the check.',
    data: source,
  },
} as const satisfies Record<string, OperationText>;

const WARNINGS =
  'What was left out of the text or may be wrong in it, one for each reason; empty if nothing is, and before the import.';

const ADDED_LINES =
  'Added lines as plain text, at most 4,000 characters. Of more, the three largest passages, largest first, with an empty line between two and `…` where one is cut.';
const REMOVED_LINES = 'Removed lines, in the same form.';

/** The schemas of answers. */
export const answers = {
  Source: described(knowledge.Source, {
    id: 'Identifier of the source.',
    kind: 'Content at the URL: `url` (an HTML page), `spreadsheet` (CSV or XLSX) or `feed` (RSS or Atom).',
    url: 'URL of the content, normalized.',
    name: 'Display name; null if none was given.',
    status:
      '`pending`: no check has ended. `ok`: the last check found content, new or unchanged. `failing`: the last check failed; the previous content is kept.',
    title: 'Title of the content; null if it has none, and before the import.',
    words: 'Number of words in the text; null before the import.',
    version:
      'Version of the text, from 1; null before the import. A check that finds the same text does not change it.',
    difference:
      'Percentage of words that differ from the text of the last e-mail to admins, or of the import. Moved text counts as unchanged. Null before the import, and after an e-mail about an outdated version until the next change.',
    createdAt: CREATED,
    lastCheckedAt: 'Start of the last check that has ended, UTC; null before.',
    lastChangedAt: 'When a new text was last found, including the import, UTC; null before.',
    lastNotifiedAt: 'When admins last got an e-mail about a change, UTC; null if never.',
    nextCheckAt: 'When the next check is due, UTC. The check follows within moments.',
    lastError: 'Why the last check failed; null if it did not.',
    lastErrorCode: 'Code of `lastError`, for programs, as of attempts; null if the last check did not fail.',
    warnings: WARNINGS,
  }),
  SourceContent: described(knowledge.SourceContent, {
    sourceId: 'The source.',
    version: 'Version of the text, from 1.',
    words: 'Number of words in the text.',
    title: 'Title of the content; null if it has none.',
    text: 'The imported text. Lines are separated by line feeds.',
    warnings: WARNINGS,
  }),
  SourceWarning: described(knowledge.SourceWarning, {
    code: '`bytes_replaced`: bytes are invalid in the encoding. `sheets_left_out`, `rows_left_out`, `cells_left_out`: parts of a spreadsheet that could not be read. `entries_left_out`: entries of a feed that could not be read.',
    count: 'How many parts.',
  }),
  SourceChanges: described(knowledge.SourceChanges, {
    sourceId: 'The source.',
    from: 'Version of the last e-mail to admins, or the first version; null before the import.',
    to: 'Current version; null before the import.',
    difference:
      'Percentage of the words of both versions that are in only one of them: 0 if all are in both, 100 if none. Null if there is nothing to compare.',
    added: ADDED_LINES,
    removed: REMOVED_LINES,
    announced: 'Changes that the last e-mail to admins was about; null before the first one.',
  }),
  AnnouncedChanges: described(knowledge.AnnouncedChanges, {
    from: 'Version that admins knew before the e-mail; null if its text is no longer stored.',
    to: 'Version that the e-mail reported.',
    difference: 'Percentage of words that differ between both versions.',
    added: ADDED_LINES,
    removed: REMOVED_LINES,
    announcedAt: 'When the e-mail was sent, UTC.',
  }),
  SourceVersion: described(knowledge.SourceVersion, {
    version: 'Number of the version, from 1.',
    words: 'Number of words in the text.',
  }),
};

/** The schemas of requests. */
export const bodies = {
  CreateSource: described(
    knowledge.CreateSource,
    {
      kind: 'Content at the URL: `url` (an HTML page), `spreadsheet` (CSV or XLSX) or `feed` (RSS or Atom).',
      url: RECEIVER_URL,
      name: 'Display name.',
    },
    { url: { format: 'uri', maxLength: MAX_RECEIVER_URL_LENGTH } },
  ),
};
