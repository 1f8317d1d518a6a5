import { describe, expect, it } from 'vitest';
import { NEW, type PaceMark } from '../../../functions/receivers/pace.ts';
import { anEndpoint, later, NOW, seconds } from '../../builders.ts';
import { dynamoDb } from '../../engines.ts';
import { newStores } from './stores.ts';

const engine = dynamoDb();
const make = newStores(engine);
const SLOW: PaceMark = { is: 'slow', until: later(NOW, seconds(120)).toISOString() };
const STALLED: PaceMark = { is: 'stalled', until: later(NOW, seconds(3600)).toISOString() };

describe('the mark of an endpoint', () => {
  async function setUp(pace?: PaceMark) {
    const { endpoints } = await make();
    const endpoint = anEndpoint({ consecutiveFailures: 3, ...(pace && { pace }) });
    await endpoints.put(endpoint);
    return {
      ...endpoints,
      endpoint,
      set: (seen: PaceMark | undefined, mark: PaceMark | undefined) =>
        endpoints.setPace(endpoint.orgId, endpoint.id, seen, mark),
      read: () => endpoints.find(endpoint.orgId, endpoint.id),
    };
  }

  it.each([
    [undefined, SLOW],
    [NEW, STALLED],
    [STALLED, SLOW],
    [SLOW, undefined],
  ])('%j becomes %j, and nothing else changes', async (seen, mark) => {
    const { endpoint, set, read } = await setUp(seen);
    await set(seen, mark);
    const { pace: _pace, ...rest } = endpoint;
    expect(await read()).toEqual({ ...rest, ...(mark && { pace: mark }) });
  });

  it.each([
    [undefined, SLOW],
    [SLOW, NEW],
    [STALLED, undefined],
  ])('stays when it is no longer the one that was seen: %j where it is %j', async (seen, present) => {
    const { endpoint, set, read } = await setUp(present);
    await set(seen, STALLED);
    expect(await read()).toEqual(endpoint);
  });

  it('does not restore an endpoint that is gone', async () => {
    const { endpoint, remove, set, read } = await setUp();
    await remove(endpoint.orgId, endpoint.id);
    await set(undefined, SLOW);
    expect(await read()).toBeUndefined();
  });
});
