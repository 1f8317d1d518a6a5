import { describe, expect, it } from 'vitest';
import { STALLED_SECONDS } from '../../../functions/domain/lanes.ts';
import { anEndpoint, later, NOW, seconds } from '../../builders.ts';
import { storeKinds } from './stores.ts';

const UNTIL = later(NOW, seconds(STALLED_SECONDS));
const HALF = seconds(STALLED_SECONDS / 2);

describe.each(storeKinds())('the mark of a stalled endpoint (%s)', (_, make) => {
  async function setUp(changes: Parameters<typeof anEndpoint>[0] = {}) {
    const { endpoints } = await make();
    const endpoint = anEndpoint(changes);
    await endpoints.put(endpoint);
    const { orgId, id } = endpoint;
    return {
      endpoints,
      endpoint,
      mark: (until: Date) => endpoints.markStalled(orgId, id, until),
      end: (seen: Date) => endpoints.endStalled(orgId, id, seen.toISOString()),
      find: () => endpoints.find(orgId, id),
    };
  }

  it('has a time, and changes nothing else', async () => {
    const { endpoint, mark, find } = await setUp({ consecutiveFailures: 3, slowUntil: UNTIL.toISOString() });

    await mark(UNTIL);

    expect(await find()).toEqual({ ...endpoint, stalledUntil: UNTIL.toISOString() });
  });

  it('stays unchanged for half of its time, and is renewed afterwards', async () => {
    const { mark, find } = await setUp();
    await mark(UNTIL);

    await mark(later(UNTIL, HALF));
    expect(await find()).toMatchObject({ stalledUntil: UNTIL.toISOString() });

    const renewed = later(UNTIL, HALF + 1);
    await mark(renewed);
    expect(await find()).toMatchObject({ stalledUntil: renewed.toISOString() });
  });

  it('is never shortened', async () => {
    const { mark, find } = await setUp({ stalledUntil: UNTIL.toISOString() });

    await mark(NOW);

    expect(await find()).toMatchObject({ stalledUntil: UNTIL.toISOString() });
  });

  it('is removed if unchanged since it was read, and nothing else', async () => {
    const { endpoint, mark, end, find } = await setUp({ consecutiveFailures: 3 });
    await mark(UNTIL);

    await end(UNTIL);

    expect(await find()).toEqual(endpoint);
  });

  it('remains when it was renewed since it was read', async () => {
    const { mark, end, find } = await setUp();
    const renewed = later(UNTIL, HALF + 1);
    await mark(UNTIL);
    await mark(renewed);

    await end(UNTIL);

    expect(await find()).toMatchObject({ stalledUntil: renewed.toISOString() });
  });

  it('does not restore an endpoint that is gone', async () => {
    const { endpoints, endpoint, mark, end, find } = await setUp();
    await endpoints.remove(endpoint.orgId, endpoint.id);

    await mark(UNTIL);
    await end(UNTIL);

    expect(await find()).toBeUndefined();
  });
});
