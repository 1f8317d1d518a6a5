import { describe, expect, it } from 'vitest';
import { LANES } from '../../../functions/delivery/lanes.ts';
import { later, NOW, seconds } from '../../builders.ts';
import { aDispatch, FAILED, LEASE_SECONDS, OK } from './dispatch-fixture.ts';
import { aService } from './service-fixture.ts';

const DELETE = { kind: 'delete' };

describe('message of an older sandbox generation', () => {
  it.each(LANES)('is deleted from the %s queue without any read or write', async (lane) => {
    const { receive, read, states, endpoint, delivery, readDelivery, readEndpoint, attempts, log } =
      await aDispatch({
        sandbox: true,
        delivery: { status: 'retrying', attempts: 2, nextRetryAt: NOW.toISOString() },
      });
    states.reset(endpoint.orgId);

    expect(await receive(lane)).toBe('deleted');

    expect(read).toEqual([]);
    expect(attempts).toEqual([]);
    expect(await readDelivery()).toEqual(delivery);
    expect(await readEndpoint()).toEqual(endpoint);
    expect(log.entries).toEqual([]);
  });
});

describe('sandbox reset during an attempt', () => {
  it.each([
    ['succeeds', OK, 1, { consecutiveFailures: 3 }],
    ['is the last and fails', FAILED, 7, { consecutiveFailures: 3 }],
    ['is the last and would disable the endpoint', FAILED, 7, { consecutiveFailures: 9 }],
  ])('prevents an attempt that %s from changing the endpoint', async (_what, answer, before, counts) => {
    const setting = await aDispatch({
      sandbox: true,
      delivery: { attempts: before },
      endpoint: counts,
      attempt: () => {
        setting.states.reset(setting.endpoint.orgId);
        return answer;
      },
    });

    const first = await setting.dispatch();

    expect(first).toEqual({ kind: 'keep', until: later(NOW, seconds(LEASE_SECONDS)) });
    expect(await setting.readEndpoint()).toMatchObject({ status: 'active', ...counts });
    expect(setting.deliveries.notices).toEqual([]);
    expect(await setting.receive()).toBe('deleted');
    expect(setting.log.entries.filter(({ level }) => level === 'warn' || level === 'error')).toEqual([]);
  });

  it('lets an attempt end that writes only its own row', async () => {
    const setting = await aDispatch({
      sandbox: true,
      attempt: () => {
        setting.states.reset(setting.endpoint.orgId);
        return OK;
      },
    });

    expect(await setting.dispatch()).toEqual(DELETE);
    expect(await setting.readEndpoint()).toEqual(setting.endpoint);
  });

  it('empties all queues, for deliveries in any state', async () => {
    let hasFailed = 0;
    const { publish, pass, states, tenant, lanes, deliveries } = aService({
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
    expect(lanes.deliveryMessages).not.toEqual([]);
    states.reset(tenant.orgId);
    const [before, attempted] = [deliveries.every, hasFailed];

    await pass(60);

    expect(lanes.deliveryMessages).toEqual([]);
    expect(hasFailed).toBe(attempted);
    expect(deliveries.every).toEqual(before);
  });
});
