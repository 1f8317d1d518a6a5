import { describe, expect, it } from 'vitest';
import { STALLED_SECONDS } from '../../../functions/domain/lanes.ts';
import { anEndpoint, later, NOW, seconds } from '../../builders.ts';
import { storeKinds } from './stores.ts';

const UNTIL = later(NOW, seconds(STALLED_SECONDS));
const HALF = seconds(STALLED_SECONDS / 2);

describe.each(storeKinds())('marking an endpoint as stalled (%s)', (_, make) => {
  async function having(changes: Parameters<typeof anEndpoint>[0] = {}) {
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

  it('says until when, and changes nothing else', async () => {
    const { endpoint, mark, find } = await having({ consecutiveFailures: 3, slowUntil: UNTIL.toISOString() });

    await mark(UNTIL);

    expect(await find()).toEqual({ ...endpoint, stalledUntil: UNTIL.toISOString() });
  });

  it('leaves a mark that has not run for half of its time as it is, and renews it after that', async () => {
    const { mark, find } = await having();
    await mark(UNTIL);

    await mark(later(UNTIL, HALF));
    expect(await find()).toMatchObject({ stalledUntil: UNTIL.toISOString() });

    const renewed = later(UNTIL, HALF + 1);
    await mark(renewed);
    expect(await find()).toMatchObject({ stalledUntil: renewed.toISOString() });
  });

  it('never shortens a mark', async () => {
    const { mark, find } = await having({ stalledUntil: UNTIL.toISOString() });

    await mark(NOW);

    expect(await find()).toMatchObject({ stalledUntil: UNTIL.toISOString() });
  });

  it('ends with the mark that was seen, and nothing else', async () => {
    const { endpoint, mark, end, find } = await having({ consecutiveFailures: 3 });
    await mark(UNTIL);

    await end(UNTIL);

    expect(await find()).toEqual(endpoint);
  });

  it('stays where the mark was renewed since it was seen', async () => {
    const { mark, end, find } = await having();
    const renewed = later(UNTIL, HALF + 1);
    await mark(UNTIL);
    await mark(renewed);

    await end(UNTIL);

    expect(await find()).toMatchObject({ stalledUntil: renewed.toISOString() });
  });

  it('makes no endpoint of one that is gone', async () => {
    const { endpoints, endpoint, mark, end, find } = await having();
    await endpoints.remove(endpoint.orgId, endpoint.id);

    await mark(UNTIL);
    await end(UNTIL);

    expect(await find()).toBeUndefined();
  });
});
