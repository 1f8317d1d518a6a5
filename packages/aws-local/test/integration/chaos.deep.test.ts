import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import * as z from 'zod';
import type { Cloud } from '../../src/cloud.ts';
import { awaitAssertion } from '../support/until.ts';
import { aCloud, aPlace, arn, lambda } from './a-cloud.ts';
import { processesOf } from './processes.ts';

/** Logs at the end of each window which items were in it. */
const handlers = `
export async function collect({ Records, state, isFinalInvokeForWindow }) {
  const seen = [...(state.seen ?? []), ...Records.map((record) => record.dynamodb.NewImage.pk.S)];
  if (isFinalInvokeForWindow) console.log('window of ' + JSON.stringify(seen));
  return { state: { seen } };
}
`;

const inserts = { Filters: [{ Pattern: '{"eventName":["INSERT"]}' }] };

const streamTo = (fn: string, properties: object) => ({
  Type: 'AWS::Lambda::EventSourceMapping',
  Properties: {
    EventSourceArn: arn('Table', 'StreamArn'),
    FunctionName: { Ref: fn },
    StartingPosition: 'TRIM_HORIZON',
    BatchSize: 10,
    FilterCriteria: inserts,
    ...properties,
  },
});

const resources = {
  // The fixture's own function gives records up; this test must lose none.
  StreamToFanOut: streamTo('FanOut', { MaximumBatchingWindowInSeconds: 0 }),
  Collect: lambda('collect', 'PlainRole'),
  StreamToCollect: streamTo('Collect', { TumblingWindowInSeconds: 2 }),
};

const Item = z.object({ doneBy: z.array(z.string()) });

/** Writes an item with retries: an answer may be lost with the sandbox that made it. */
async function put(cloud: Cloud, id: string): Promise<void> {
  await awaitAssertion(
    async () => expect((await fetch(`${cloud.url}/api/${id}`, { method: 'POST' })).status).toBe(200),
    30_000,
  );
}

async function isDone(cloud: Cloud, id: string): Promise<boolean> {
  const response = await fetch(`${cloud.url}/api/${id}`);
  return response.status === 200 && Item.parse(await response.json()).doneBy.length > 0;
}

/** The process may have ended since it was found. */
function kill(pid: number | undefined): void {
  try {
    if (pid !== undefined) process.kill(pid, 'SIGKILL');
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error;
  }
}

/** Kills the engine and one sandbox of each function, alternating with writes. */
async function wreak(cloud: Cloud, round: number): Promise<string[]> {
  const ids = Array.from({ length: 10 }, (_, number) => `item-${round}-${number}`);
  const { engine, sandboxes } = processesOf(process.pid);
  const victims = [...sandboxes.values()].map(([pid]) => pid);
  const writing = ids.map(async (id, number) => {
    await sleep(30 * number);
    await put(cloud, id);
  });
  await sleep(40);
  kill(engine);
  for (const victim of victims) {
    await sleep(40);
    if (victim !== undefined && [...processesOf(process.pid).sandboxes.values()].flat().includes(victim))
      kill(victim);
  }
  await Promise.all(writing);
  return ids;
}

it('a run loses no record and no message when its engine and its sandboxes are killed repeatedly', async () => {
  const unhandled: unknown[] = [];
  const note = (reason: unknown) => unhandled.push(reason);
  process.on('unhandledRejection', note);
  const { cloud, lines } = await aCloud(aPlace(resources, handlers));
  const first = processesOf(process.pid).engine;
  await put(cloud, 'first');

  const ids = ['first'];
  for (let round = 0; round < 5; round += 1) ids.push(...(await wreak(cloud, round)));
  expect(processesOf(process.pid).engine).not.toBe(first);

  await awaitAssertion(async () => {
    const done = await Promise.all(ids.map((id) => isDone(cloud, id)));
    expect(ids.filter((_, index) => !done[index])).toEqual([]);
  }, 40_000);
  await awaitAssertion(() => {
    const collected = lines
      .flatMap((line) => line.split('window of ')[1] ?? [])
      .flatMap((json) => z.array(z.string()).parse(JSON.parse(json)));
    expect(ids.filter((id) => !collected.includes(id))).toEqual([]);
  });
  process.off('unhandledRejection', note);
  expect(unhandled).toEqual([]);
}, 120_000);
