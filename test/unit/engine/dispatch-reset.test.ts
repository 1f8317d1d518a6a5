import { describe, expect, it } from 'vitest';
import { LANES } from '../../../functions/domain/lanes.ts';
import { later, NOW, seconds } from '../../builders.ts';
import { aDispatch, FAILED, LEASE_SECONDS, OK } from './a-dispatch.ts';
import { aService } from './a-service.ts';

const DELETE = { kind: 'delete' };

describe('dispatching what a reset has wiped', () => {
  it.each(LANES)('deletes its message from the %s lane, and leaves no trace', async (lane) => {
    const { dispatch, standings, endpoint, delivery, found, foundEndpoint, attempts, log } = await aDispatch({
      sandbox: true,
      delivery: { status: 'retrying', attempts: 2, nextRetryAt: NOW.toISOString() },
    });
    standings.reset(endpoint.orgId);

    expect(await dispatch(lane)).toEqual(DELETE);

    expect(attempts).toEqual([]);
    expect(await found()).toEqual(delivery);
    expect(await foundEndpoint()).toEqual(endpoint);
    expect(log.entries).toEqual([]);
  });

  it.each([
    ['its event was purged', { withEndpoint: true }],
    ['its endpoint was deleted, and its event purged', { withEndpoint: false }],
  ])('takes no notice that %s', async (_what, { withEndpoint }) => {
    const { deal, standings, reminder, endpoint, delivery, found, log } = await aDispatch({ sandbox: true });
    standings.reset(endpoint.orgId);
    const context = { endpoint: withEndpoint ? endpoint : undefined, event: undefined };

    expect(await deal(reminder, context, 'fresh')).toEqual(DELETE);

    expect(await found()).toEqual(delivery);
    expect(log.entries).toEqual([]);
  });

  it('ends nothing whose last attempt was lost', async () => {
    const { dispatch, standings, endpoint, delivery, found, foundEndpoint } = await aDispatch({
      sandbox: true,
      delivery: { attempts: 8 },
      endpoint: { consecutiveFailures: 9 },
    });
    standings.reset(endpoint.orgId);

    expect(await dispatch()).toEqual(DELETE);

    expect(await found()).toEqual(delivery);
    expect(await foundEndpoint()).toEqual(endpoint);
  });

  it('goes on for what came after the reset', async () => {
    const { dispatch, standings, endpoint, found } = await aDispatch({
      sandbox: true,
      delivery: { generation: 2 },
    });
    standings.reset(endpoint.orgId);

    expect(await dispatch()).toEqual(DELETE);

    expect(await found()).toMatchObject({ status: 'succeeded' });
  });
});

describe('dispatching for a tenant that nobody can vouch for', () => {
  it.each<[string, Parameters<typeof aDispatch>[0] & object, RegExp]>([
    ['does not exist', { standings: () => ({ of: async () => undefined }) }, /no organization/],
    [
      'cannot be read',
      { standings: () => ({ of: () => Promise.reject(new Error('the table is throttled')) }) },
      /throttled/,
    ],
    ['is newer than what is known', { sandbox: true, delivery: { generation: 2 } }, /generation/],
    ['is a sandbox by its data and live by its organization', { delivery: { generation: 1 } }, /generation/],
  ])('that %s leaves the message, and claims nothing', async (_what, setting, reason) => {
    const { dispatch, delivery, found, attempts } = await aDispatch(setting);

    await expect(dispatch()).rejects.toThrow(reason);

    expect(attempts).toEqual([]);
    expect(await found()).toEqual(delivery);
  });

  it('leaves its message in the queue until it is known again', async () => {
    let attempts = 0;
    const attempt = async () => {
      attempts += 1;
      return OK;
    };
    const { publish, dispatchFrom, standings, tenant, clock, lanes, deliveries } = aService({
      attempt,
      sandbox: true,
    });
    await publish();
    const { of } = standings;
    standings.of = async () => undefined;

    await dispatchFrom('fresh');
    expect(lanes.queues.fresh.reminders).toHaveLength(1);
    expect(attempts).toBe(0);

    standings.of = of;
    clock.elapse(60);
    await dispatchFrom('fresh');
    expect(attempts).toBe(1);
    expect(lanes.reminders).toEqual([]);
    expect(deliveries.every).toMatchObject([{ ...tenant, status: 'succeeded' }]);
  });
});

describe('a reset while an attempt is under way', () => {
  it.each([
    ['succeeds', OK, 1, { consecutiveFailures: 3 }],
    ['is the last and fails', FAILED, 7, { consecutiveFailures: 3 }],
    ['is the last and would disable the endpoint', FAILED, 7, { consecutiveFailures: 9 }],
  ])('keeps the end of one that %s from the endpoint', async (_what, answer, before, counts) => {
    const setting = await aDispatch({
      sandbox: true,
      delivery: { attempts: before },
      endpoint: counts,
      attempt: () => {
        setting.standings.reset(setting.endpoint.orgId);
        return answer;
      },
    });

    const first = await setting.dispatch();

    expect(first).toEqual({ kind: 'keep', until: later(NOW, seconds(LEASE_SECONDS)) });
    expect(await setting.foundEndpoint()).toEqual(setting.endpoint);
    expect(setting.deliveries.notices).toEqual([]);
    expect(await setting.dispatch()).toEqual(DELETE);
    expect(setting.log.entries.filter(({ level }) => level === 'warn' || level === 'error')).toEqual([]);
  });

  it('ends it where nothing but its own row is written', async () => {
    const setting = await aDispatch({
      sandbox: true,
      attempt: () => {
        setting.standings.reset(setting.endpoint.orgId);
        return OK;
      },
    });

    expect(await setting.dispatch()).toEqual(DELETE);
    expect(await setting.foundEndpoint()).toEqual(setting.endpoint);
  });

  it('has no attempt follow one that failed', async () => {
    const setting = await aDispatch({
      sandbox: true,
      attempt: () => {
        setting.standings.reset(setting.endpoint.orgId);
        return FAILED;
      },
    });
    await setting.dispatch();
    setting.clock.elapse(3600);

    expect(await setting.dispatch()).toEqual(DELETE);

    expect(setting.attempts).toEqual([1]);
  });

  it('leaves nothing in any queue, however far its deliveries had come', async () => {
    let hasFailed = 0;
    const { publish, pass, standings, tenant, lanes, deliveries } = aService({
      sandbox: true,
      attempt: async () => {
        hasFailed += 1;
        return FAILED;
      },
      endpoints: [{}, {}, {}],
    });
    for (let minute = 0; minute < 5; minute += 1) {
      await publish();
      await pass(1);
    }
    expect(lanes.reminders).not.toEqual([]);
    standings.reset(tenant.orgId);
    const [before, attempted] = [deliveries.every, hasFailed];

    await pass(60);

    expect(lanes.reminders).toEqual([]);
    expect(hasFailed).toBe(attempted);
    expect(deliveries.every).toEqual(before);
  });
});
