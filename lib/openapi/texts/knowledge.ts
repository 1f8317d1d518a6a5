import * as knowledge from '../../../functions/api/knowledge/schemas.ts';
import { MAX_RECEIVER_URL_LENGTH } from '../../../functions/domain/receiver-url.ts';
import * as examples from '../example-values.ts';
import { CREATED, described, type OperationText } from '../operation-text.ts';

const PROGRAMS = `**In a sandbox** nothing is fetched. \`simulate\` in the query of \`url\` says what each check finds, as it does for webhooks
(\`registerWebhook\`): \`https://example.com/prices?simulate=200,304,503,200\`. Each check takes the next answer, the last one is for all
checks that follow; without it every check finds the same text.

| Answer | What the check finds |
|---|---|
| \`200\` | a text of 60 words, none of which is in that of another answer: at each \`200\` but a repeated last one, all of the text has changed |
| \`304\` | the text is as before |
| any other status, \`timeout\` and the other failures | no content; \`lastError\` says why |

To take the next step without waiting for an hour, ask for it (\`syncSource\`), once a minute. \`simulate-speed\` has no effect here.`;

export const operations = {
  createSource: {
    tag: 'Knowledge',
    atMost: { reads: 4, writes: 30 },
    description: `Adds a source of knowledge: an address, and what is to be expected there. It is fetched within moments of this answer; read the
source to see its status (\`readSource\`). From then on it is checked every hour.

Addresses must be public, as for webhooks. Redirects are followed, five at most. A response may have 5 MiB, its text 1 MB. What cannot be
fetched or read leaves the source \`failing\`, with the reason in \`lastError\` and the content from before, and is tried again an hour later.

When the text has changed by more than the organization’s \`contentChangeThreshold\` since admins last heard of it, they get an e-mail, one
a day for each address at most.

An organization may have 1,000 sources; one more is refused with \`LIMIT_EXCEEDED\`.

${PROGRAMS}`,
    body: { kind: examples.source.kind, url: examples.source.url, name: examples.source.name },
    answer: 'The source, which is `pending`.',
    data: examples.pendingSource,
    location: `/api/v1/knowledge/sources/${examples.source.id}`,
  },
  listSources: {
    tag: 'Knowledge',
    atMost: { reads: 180, writes: 4 },
    description: 'The organization’s sources, newest first.',
    answer: 'A page of sources.',
    data: [examples.source],
  },
  readSource: {
    tag: 'Knowledge',
    atMost: { reads: 6, writes: 3 },
    description: 'One source: what the last check came to, and what is known of its content.',
    answer: 'The source.',
    data: examples.source,
  },
  readSourceChanges: {
    tag: 'Knowledge',
    atMost: { reads: 300, writes: 4 },
    description: `The lines that were added to and removed from a source since the last e-mail to admins: from the version of that e-mail, or the
first one, to the present one. Lines that only moved are in neither list. Both are plain text as it was found, never markup.

Before the first import there is nothing to compare: \`from\`, \`to\` and \`difference\` are null.`,
    answer: 'What has changed.',
    data: examples.sourceChanges,
  },
  deleteSource: {
    tag: 'Knowledge',
    atMost: { reads: 4, writes: 20 },
    description:
      'Deletes a source with its content. Nothing of it is fetched any more, except by a check that is in progress. One that is already gone, or never was, is a success as well.',
    answer: 'The source is gone.',
  },
  syncSource: {
    tag: 'Knowledge',
    atMost: { reads: 6, writes: 30 },
    description: `Asks for a check of a source now, whenever the next one is due. The answer does not wait for it: when \`lastCheckedAt\` is later
than this request, it was done.

A check of a source can be asked for once a minute. Within a minute of the last request for the same source the answer is
\`RATE_LIMITED\`, and \`Retry-After\` says when to ask again; a repeated \`Idempotency-Key\` gets the first answer all the same. An
organization has a share of the checks that run at once: checks beyond it wait their turn.`,
    answer: 'The source as it is before the check.',
    data: examples.source,
  },
} as const satisfies Record<string, OperationText>;

/** The schemas of answers. */
export const answers = {
  Source: described(knowledge.Source, {
    id: 'Identifies the source.',
    kind: 'What is at its URL: `url`, an HTML page; `spreadsheet`, CSV or XLSX; `feed`, RSS or Atom.',
    url: 'Where it is fetched from, as the service understood it: host names in lower case, for example.',
    name: 'Label for people, if one was given.',
    status:
      '`pending`: no check has ended. `ok`: the last check brought content, or found that it is as before. `failing`: the last check brought none; the content from before stays.',
    title: 'Title of the content, if it has one; null before the import.',
    words: 'How many words the text has; null before the import.',
    version:
      'Counts the texts that were found, from 1; null before the import. A check that finds the same text changes nothing.',
    difference:
      'How much the text differs from the one that the last e-mail to admins was about, or that was imported: the share of the words of both that are in one and not in the other, in percent. Moved text counts as unchanged. Null before the import, and until the next change after an e-mail that was overtaken by a newer version.',
    createdAt: CREATED,
    lastCheckedAt: 'When the last check that has ended began, UTC; null before.',
    lastChangedAt: 'When another text was last found, the import included, UTC; null before.',
    lastNotifiedAt: 'When admins were last sent an e-mail about a change, UTC; null when none was sent.',
    nextCheckAt: 'When the next check is due, UTC. Checks take a moment more.',
    lastError: 'Why the last check brought no content, in one line; null when it did.',
  }),
  SourceChanges: described(knowledge.SourceChanges, {
    sourceId: 'The source.',
    from: 'The version that admins know: that of the last e-mail, or the first. Null before the first import.',
    to: 'The present version. Null before the first import.',
    difference:
      'How much the two differ, in percent of the words of both: 0 for the same words, 100 where they share none. Null where there is nothing to compare.',
    added:
      'The lines that came, 4,000 characters at most, with `…` where something is left out. Text, never markup.',
    removed: 'The lines that went, in the same way.',
  }),
  SourceVersion: described(knowledge.SourceVersion, {
    version: 'Counts the different contents of the source, from 1.',
    words: 'Number of words in it.',
  }),
};

/** The schemas of requests. */
export const bodies = {
  CreateSource: described(
    knowledge.CreateSource,
    {
      kind: 'What is at the URL: `url`, an HTML page; `spreadsheet`, CSV or XLSX; `feed`, RSS or Atom.',
      url: 'Where it is: https, on port 443 or one from 1024 on, with a public host name or a public address, without credentials and fragment.',
      name: 'Label for people.',
    },
    { url: { format: 'uri', maxLength: MAX_RECEIVER_URL_LENGTH } },
  ),
};
