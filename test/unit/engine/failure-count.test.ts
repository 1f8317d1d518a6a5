import { describe, expect, it, vi } from 'vitest';
import { AT_RISK_SECONDS } from '../../../functions/domain/failure-streak.ts';
import { later, NOW, seconds } from '../../builders.ts';
import { aDispatch, FAILED, OK } from './a-dispatch.ts';

const LONG_AT_RISK = { atRiskUntil: later(NOW, seconds(AT_RISK_SECONDS / 2)).toISOString() };

describe('successful delivery', () => {
  it('sets the count to 0 although nine failures were counted during its attempt', async () => {
    const setting = await aDispatch({
      attempt: () => {
        setting.endpoints.put({ ...setting.endpoint, consecutiveFailures: 9, streak: 'a-streak' });
        setting.clock.elapse(5);
        return OK;
      },
    });

    await setting.dispatch();

    expect(await setting.foundEndpoint()).toMatchObject({ status: 'active', consecutiveFailures: 0 });
    expect(await setting.foundEndpoint()).not.toHaveProperty('streak');
  });

  it('neither reads nor writes a healthy endpoint', async () => {
    const { dispatch, endpoints, endpoint } = await aDispatch();
    const before = await endpoints.find(endpoint.orgId, endpoint.id);
    const find = vi.spyOn(endpoints, 'find');
    const put = vi.spyOn(endpoints, 'put');

    await dispatch();

    // The one read is the test's own, for the context.
    expect(find).toHaveBeenCalledTimes(1);
    expect(put).not.toHaveBeenCalled();
    expect(await endpoints.find(endpoint.orgId, endpoint.id)).toBe(before);
  });

  it.each([
    ['at risk', LONG_AT_RISK, 0],
    ['whose attempt took long', {}, 1.1],
  ])('reads an endpoint %s, and does not change it when it has no failures', async (_, changes, elapsed) => {
    const setting = await aDispatch({
      endpoint: changes,
      attempt: () => {
        setting.clock.elapse(elapsed);
        return OK;
      },
    });
    const find = vi.spyOn(setting.endpoints, 'find');

    await setting.dispatch();

    expect(find).toHaveBeenCalledTimes(2);
    expect(await setting.foundEndpoint()).toEqual(setting.endpoint);
  });

  it('waits for a failure that has marked the endpoint, and then resets the count', async () => {
    const setting = await aDispatch({
      endpoint: { ...LONG_AT_RISK, streak: 'a-streak' },
      wait: async () => {
        const present = await setting.foundEndpoint();
        if (present) setting.endpoints.put({ ...present, consecutiveFailures: 1 });
      },
    });

    await setting.dispatch();

    expect(await setting.foundEndpoint()).toMatchObject({ consecutiveFailures: 0 });
  });

  it('ends a streak whose failure never comes', async () => {
    const { dispatch, found, foundEndpoint } = await aDispatch({
      endpoint: { ...LONG_AT_RISK, streak: 'of one that was lost' },
    });

    await dispatch();

    expect(await found()).toMatchObject({ status: 'succeeded' });
    expect(await foundEndpoint()).not.toHaveProperty('streak');
  });

  it('ends after the failures that disabled its endpoint, when it comes too late', async () => {
    const setting = await aDispatch({
      attempt: () => {
        setting.clock.elapse(5);
        const disabledAt = setting.clock.now().toISOString();
        setting.endpoints.put({ ...setting.endpoint, status: 'auto_disabled', disabledAt });
        return OK;
      },
    });

    await setting.dispatch();

    const [delivery, endpoint] = [await setting.found(), await setting.foundEndpoint()];
    expect(delivery?.terminalAt && endpoint?.disabledAt && delivery.terminalAt >= endpoint.disabledAt).toBe(
      true,
    );
  });
});

describe('failed delivery', () => {
  const failing = (changes: Parameters<typeof aDispatch>[0] = {}) => {
    const waits: number[] = [];
    return aDispatch({
      delivery: { attempts: 7 },
      attempt: () => FAILED,
      wait: async (count) => void waits.push(count),
      ...changes,
    }).then((setting) => ({ ...setting, waits }));
  };

  it('ends before its endpoint is enabled when it finds that disabled', async () => {
    const setting = await failing({
      endpoint: LONG_AT_RISK,
      attempt: () => {
        setting.endpoints.put({ ...setting.endpoint, status: 'auto_disabled' });
        return FAILED;
      },
    });
    let enabledAt = '';
    const find = setting.endpoints.find.bind(setting.endpoints);
    vi.spyOn(setting.endpoints, 'find').mockImplementation(async (...of) => {
      const found = await find(...of);
      if (found?.status === 'active') return found;
      setting.clock.elapse(1);
      enabledAt = setting.clock.now().toISOString();
      setting.endpoints.put(setting.endpoint);
      return found;
    });

    await setting.dispatch();

    const ended = await setting.found();
    expect(ended).toMatchObject({ status: 'exhausted' });
    expect(ended?.terminalAt && ended.terminalAt < enabledAt).toBe(true);
  });

  it('marks its endpoint, waits until every success sees the mark, and is counted', async () => {
    const { dispatch, foundEndpoint, waits } = await failing();

    await dispatch();

    expect(waits).toEqual([3]);
    expect(await foundEndpoint()).toMatchObject({
      consecutiveFailures: 1,
      streak: expect.any(String),
      atRiskUntil: later(NOW, seconds(AT_RISK_SECONDS)).toISOString(),
    });
  });

  it('does not wait when the mark is old', async () => {
    const { dispatch, foundEndpoint, waits } = await failing({ endpoint: LONG_AT_RISK });

    await dispatch();

    expect(waits).toEqual([]);
    expect(await foundEndpoint()).toMatchObject({ consecutiveFailures: 1, ...LONG_AT_RISK });
  });

  it('marks its endpoint one attempt before the last, so that the last does not wait', async () => {
    const { dispatch, foundEndpoint, waits, clock } = await failing({ delivery: { attempts: 6 } });

    await dispatch();
    expect(await foundEndpoint()).toMatchObject({ consecutiveFailures: 0, atRiskUntil: expect.any(String) });
    clock.elapse(3600);
    await dispatch();

    expect(await foundEndpoint()).toMatchObject({ consecutiveFailures: 1 });
    expect(waits).toEqual([]);
  });

  it('is counted after a success between its read and its end', async () => {
    const setting = await failing({
      endpoint: { ...LONG_AT_RISK, consecutiveFailures: 9, streak: 'before' },
      deliveries: (deliveries) => {
        let isFirst = true;
        return {
          find: (ref) => deliveries.find(ref),
          claim: (ref, terms) => deliveries.claim(ref, terms),
          skip: (...skip) => deliveries.skip(...skip),
          exhaust: (...end) => deliveries.exhaust(...end),
          async settle(...settlement) {
            if (isFirst) {
              const { streak: _, ...reset } = { ...setting.endpoint, consecutiveFailures: 0 };
              setting.endpoints.put(reset);
            }
            isFirst = false;
            return deliveries.settle(...settlement);
          },
        };
      },
    });

    await setting.dispatch();

    expect(await setting.foundEndpoint()).toMatchObject({ status: 'active', consecutiveFailures: 1 });
  });
});
