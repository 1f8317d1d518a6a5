import { expect, it } from 'vitest';
import * as z from 'zod';
import { awaitAssertion } from '../support/until.ts';
import { aCloud, aPlace, arn, lambda } from './a-cloud.ts';

/** Collects the items of a window in the state, and logs them at its end. */
const handlers = `
export async function collect({ Records, state, window, isFinalInvokeForWindow }) {
  const seen = [...(state.seen ?? []), ...Records.map((record) => record.dynamodb.NewImage.pk.S)];
  if (isFinalInvokeForWindow) console.log('window ' + JSON.stringify({ ...window, seen }));
  return { state: { seen } };
}
`;

const resources = {
  Collect: lambda('collect', 'PlainRole'),
  StreamToCollect: {
    Type: 'AWS::Lambda::EventSourceMapping',
    Properties: {
      EventSourceArn: arn('Table', 'StreamArn'),
      FunctionName: { Ref: 'Collect' },
      StartingPosition: 'TRIM_HORIZON',
      BatchSize: 2,
      TumblingWindowInSeconds: 3,
      FilterCriteria: { Filters: [{ Pattern: '{"eventName":["INSERT"]}' }] },
    },
  },
};

const Window = z.object({ start: z.string(), end: z.string(), seen: z.array(z.string()) });

it('a tumbling window passes its aggregated state to the function at its end', async () => {
  const { cloud, lines } = await aCloud(aPlace(resources, handlers));
  const put = async (id: string) =>
    expect((await fetch(`${cloud.url}/api/${id}`, { method: 'POST' })).status).toBe(200);
  const windows = () =>
    lines.flatMap((line) => {
      const json = line.split('window {')[1];
      return json === undefined ? [] : [Window.parse(JSON.parse(`{${json}`))];
    });
  const seen = () => windows().flatMap((window) => window.seen);

  const first = ['a', 'b', 'c', 'd', 'e'];
  for (const id of first) await put(id);
  await awaitAssertion(() => expect(seen()).toEqual(first), 30_000);
  await put('f');
  await awaitAssertion(() => expect(seen()).toEqual([...first, 'f']), 30_000);

  const all = windows();
  for (const { start, end } of all) {
    expect(start).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
    expect(Date.parse(end) - Date.parse(start)).toBe(3_000);
    expect(Date.parse(start) % 3_000).toBe(0);
  }
  expect(new Set(all.map(({ start }) => start)).size).toBe(all.length);
});
