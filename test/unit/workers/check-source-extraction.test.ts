import { expect, it } from 'vitest';
import { busWorker, processEach } from '../../../functions/events/worker.ts';
import { checkSource } from '../../../functions/knowledge/check-source.ts';
import { checkSlots } from '../../../functions/knowledge/source-checks.ts';
import { type Extract, sourceContent } from '../../../functions/knowledge/source-content.ts';
import type { Source } from '../../../functions/knowledge/sources.ts';
import { gate } from '../../../functions/tenancy/gate.ts';
import { aBusEvent, anOrganization, aSource } from '../../builders.ts';
import { sourcesIn } from '../../doubles/memory-sources.ts';
import { recordedLog } from '../../doubles/recorded-log.ts';
import { memoryTables } from '../../doubles/tables/stack-tables.ts';
import { busMessage, capturedOutput, received, WITH_TIME } from './a-worker.ts';

/** The worker with one source for each name, each in an organization of its own. */
async function aWorker(extract: Extract, names: readonly string[]) {
  capturedOutput();
  const tables = memoryTables();
  const sources = sourcesIn(tables);
  const added: Source[] = [];
  for (const name of names) {
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
        organizations: { of: getState },
        blockedHosts: async () => [],
        extract,
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

it('an extraction that could not be invoked leaves only that message in the queue', async () => {
  const { checkAll, results } = await aWorker(
    async ({ url }) => {
      if (url.endsWith('/first')) throw new Error('TooManyRequestsException');
      return url.endsWith('/bomb')
        ? { kind: 'failed', error: 'the content takes too much memory to read' }
        : { kind: 'fetched', text: 'one two three' };
    },
    ['first', 'bomb', 'after'],
  );

  expect(await checkAll()).toEqual({ batchItemFailures: [{ itemIdentifier: 'message-1' }] });
  expect(await results()).toEqual([undefined, 'the content takes too much memory to read', 3]);
});
