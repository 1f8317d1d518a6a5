import { describe, expect, it } from 'vitest';
import { busWorker, processEach } from '../../../functions/events/worker.ts';
import { checkSource } from '../../../functions/knowledge/check-source.ts';
import { checkSlots } from '../../../functions/knowledge/source-checks.ts';
import { type Extractor, extractor, sourceContent } from '../../../functions/knowledge/source-content.ts';
import { MAX_SOURCE_BYTES, type Source } from '../../../functions/knowledge/sources.ts';
import { gate } from '../../../functions/tenancy/gate.ts';
import { aBusEvent, anOrganization, aSource } from '../../builders.ts';
import { sourcesIn } from '../../doubles/memory-sources.ts';
import { recordedLog } from '../../doubles/recorded-log.ts';
import { memoryTables } from '../../doubles/tables/stack-tables.ts';
import { busMessage, capturedOutput, received, WITH_TIME } from './a-worker.ts';

/** The worker with one source for each content, each in an organization of its own. */
async function aWorker(extract: Extractor, contents: Readonly<Record<string, string>>) {
  capturedOutput();
  const tables = memoryTables();
  const sources = sourcesIn(tables);
  const added: Source[] = [];
  for (const name of Object.keys(contents)) {
    const source = aSource({ orgId: anOrganization().id, url: `https://example.com/${name}` });
    await sources.add(source);
    added.push(source);
  }
  const getState = async () => ({ environment: 'live', tier: 'standard', generation: 0 }) as const;
  const run = checkSource(
    {
      sources,
      slots: checkSlots(tables.knowledge, 2),
      organizations: { find: async () => undefined },
      organizationStates: { of: getState },
      fetchContent: sourceContent({
        gate: gate(getState),
        outbound: {
          fetch: async ({ url }) => ({
            kind: 'fetched',
            url: url.href,
            contentType: 'text/html',
            body: Buffer.from(contents[url.pathname.slice(1)] ?? ''),
          }),
        },
        extract,
        userAgent: 'ConversationService-Knowledge/1',
      }),
      onChecked: () => undefined,
      log: recordedLog(),
      now: () => new Date(),
      random: () => 0,
    },
    { checkEverySeconds: 3600, leaseSeconds: 90 },
  );
  const handler = busWorker('check-source', processEach(run, recordedLog()));
  const messages = added.map(({ id, orgId }) =>
    busMessage(
      aBusEvent({
        type: 'source.check',
        orgId,
        generation: 0,
        createdAt: new Date().toISOString(),
        data: { sourceId: id },
      }),
    ),
  );
  return {
    checkAll: () => handler(received('checks', ...messages), WITH_TIME),
    results: async () => {
      const stored = await Promise.all(added.map((source) => sources.find(source, source.id)));
      return stored.map((source) => source?.lastError ?? source?.content?.words);
    },
  };
}

const page = '<p>one two three</p>';

describe('extractor process that fails on the content of one organization', () => {
  it('fails only that check when its memory is full, and the rest of the batch is settled', async () => {
    const extract = extractor({ timeoutMs: 25_000, memoryMiB: 32 });
    const bomb = '<'.repeat(MAX_SOURCE_BYTES);
    const { checkAll, results } = await aWorker(extract, { before: page, bomb, after: page });

    expect(await checkAll()).toEqual({ batchItemFailures: [] });
    expect(await results()).toEqual([3, 'the content takes too much memory to read', 3]);
  });

  it('fails only that check when it takes too long', async () => {
    const [hasty, patient] = [extractor({ timeoutMs: 1 }), extractor({ timeoutMs: 25_000 })];
    const slow = `<p>slow ${'word '.repeat(100_000)}`;
    const extract: Extractor = (kind, content) =>
      (content.body.length > page.length ? hasty : patient)(kind, content);
    const { checkAll, results } = await aWorker(extract, { slow, after: page });

    expect(await checkAll()).toEqual({ batchItemFailures: [] });
    expect(await results()).toEqual(['the content takes too long to read', 3]);
  });

  it('leaves only that message in the queue when it did not start', async () => {
    const working = extractor({ timeoutMs: 25_000 });
    const extract: Extractor = (kind, content) => {
      if (Buffer.from(content.body).includes('first')) throw new Error('the reader did not start');
      return working(kind, content);
    };
    const { checkAll, results } = await aWorker(extract, { first: '<p>first', after: page });

    expect(await checkAll()).toEqual({ batchItemFailures: [{ itemIdentifier: 'message-1' }] });
    expect(await results()).toEqual([undefined, 3]);
  });
});
