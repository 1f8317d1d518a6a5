import { describe, expect, it } from 'vitest';
import { later, NOW, seconds } from '../../builders.ts';
import { actBefore, aDispatch, FAILED, LEASE_SECONDS, OK } from './dispatch-fixture.ts';

const DELETE = { kind: 'delete' };
const keepUntil = (until: Date) => ({ kind: 'keep', until });

describe('attempt that outlives its lease', () => {
  it('settles nothing and keeps the message while another worker holds the delivery', async () => {
    const setting = await aDispatch({
      attempt: async () => {
        setting.clock.elapse(LEASE_SECONDS);
        await setting.claim();
        return OK;
      },
    });

    const disposition = await setting.dispatch();

    expect(disposition).toEqual(keepUntil(later(NOW, seconds(2 * LEASE_SECONDS))));
    expect(await setting.readDelivery()).toMatchObject({ status: 'pending', attempts: 2, attemptLog: [] });
  });

  it('keeps the message until the retry that another worker has scheduled', async () => {
    const setting = await aDispatch({
      attempt: async (attempt) => {
        if (attempt === 2) return FAILED;
        setting.clock.elapse(LEASE_SECONDS);
        await setting.dispatch();
        return OK;
      },
    });

    const disposition = await setting.dispatch();

    expect(disposition).toEqual(keepUntil(later(NOW, seconds(LEASE_SECONDS + 60))));
    expect((await setting.readDelivery())?.attemptLog).toMatchObject([{ number: 2 }]);
  });

  it('deletes the message when another worker has ended the delivery', async () => {
    const setting = await aDispatch({
      attempt: async (attempt) => {
        if (attempt === 2) return OK;
        setting.clock.elapse(LEASE_SECONDS);
        await setting.dispatch();
        return FAILED;
      },
    });

    expect(await setting.dispatch()).toEqual(DELETE);
    expect(await setting.readDelivery()).toMatchObject({ status: 'succeeded', attempts: 2 });
  });

  it("makes the message visible at once when the other worker's lease has expired too", async () => {
    const setting = await aDispatch({
      attempt: async () => {
        setting.clock.elapse(LEASE_SECONDS);
        await setting.claim();
        setting.clock.elapse(LEASE_SECONDS);
        return OK;
      },
    });

    expect(await setting.dispatch()).toEqual(keepUntil(setting.clock.now()));
  });
});

describe('delivery whose signing keys cannot be loaded', () => {
  const prepare = () => Promise.reject(new Error('the signing keys cannot be read'));

  it('is not claimed, because a claim counts as an attempt', async () => {
    const { dispatch, delivery, readDelivery, attempts } = await aDispatch({ prepare });

    await expect(dispatch()).rejects.toThrow('the signing keys cannot be read');

    expect(attempts).toEqual([]);
    expect(await readDelivery()).toEqual(delivery);
  });

  it('can still be skipped', async () => {
    const { dispatch, readDelivery } = await aDispatch({ prepare, endpoint: { status: 'auto_disabled' } });

    expect(await dispatch()).toEqual(DELETE);

    expect(await readDelivery()).toMatchObject({ status: 'skipped', terminalReason: 'endpoint_disabled' });
  });
});

describe('attempt that throws', () => {
  it('leaves the delivery leased and the attempt counted, and a later worker continues', async () => {
    let broken = true;
    const { dispatch, clock, readDelivery, attempts } = await aDispatch({
      attempt: () => {
        if (broken) throw new Error('the signing keys cannot be read');
        return OK;
      },
    });

    await expect(dispatch()).rejects.toThrow('the signing keys cannot be read');
    expect(await readDelivery()).toMatchObject({ status: 'pending', attempts: 1, lease: {} });
    expect(await dispatch()).toEqual(keepUntil(later(NOW, seconds(LEASE_SECONDS))));

    broken = false;
    clock.elapse(LEASE_SECONDS);
    expect(await dispatch()).toEqual(DELETE);
    expect(attempts).toEqual([1, 2]);
    expect(await readDelivery()).toMatchObject({ status: 'succeeded' });
  });
});

describe('delivery that another worker changes first', () => {
  it('is read again when it was to be skipped', async () => {
    const setting = await aDispatch({ endpoint: { status: 'auto_disabled' } });
    actBefore(setting, 'Update', setting.claim);

    expect(await setting.dispatch()).toEqual(keepUntil(later(NOW, seconds(LEASE_SECONDS))));
    expect(await setting.readDelivery()).toMatchObject({ status: 'pending' });
  });

  it('is read again when it was to be exhausted, and counts once', async () => {
    const setting = await aDispatch({ delivery: { attempts: 8 } });
    actBefore(setting, 'TransactWrite', () =>
      setting.deliveries.exhaust(setting.deliveryMessage, NOW, undefined),
    );

    expect(await setting.dispatch()).toEqual(DELETE);
    expect(await setting.readEndpoint()).toMatchObject({ consecutiveFailures: 1 });
  });
});

describe('endpoint that changes during an attempt', () => {
  it('is disabled when others have counted up to nine failures meanwhile', async () => {
    const setting = await aDispatch({
      delivery: { attempts: 7 },
      attempt: () => {
        setting.endpoints.put({ ...setting.endpoint, consecutiveFailures: 9 });
        return FAILED;
      },
    });

    expect(await setting.dispatch()).toEqual(DELETE);
    expect(await setting.readEndpoint()).toMatchObject({ status: 'auto_disabled', consecutiveFailures: 10 });
  });

  it('is counted from one when another delivery has succeeded meanwhile', async () => {
    const setting = await aDispatch({
      delivery: { attempts: 7 },
      endpoint: { consecutiveFailures: 9 },
      attempt: () => {
        setting.endpoints.put({ ...setting.endpoint, consecutiveFailures: 0 });
        return FAILED;
      },
    });

    expect(await setting.dispatch()).toEqual(DELETE);
    expect(await setting.readEndpoint()).toMatchObject({ status: 'active', consecutiveFailures: 1 });
  });

  it.each([
    ['a success', OK, 'succeeded'],
    ['a last failure', FAILED, 'exhausted'],
  ] as const)('ignores %s once it is disabled', async (_what, answer, status) => {
    const setting = await aDispatch({
      delivery: { attempts: 7 },
      endpoint: { consecutiveFailures: 3 },
      attempt: () => {
        setting.endpoints.put({ ...setting.endpoint, status: 'auto_disabled', consecutiveFailures: 10 });
        return answer;
      },
    });

    expect(await setting.dispatch()).toEqual(DELETE);
    expect(await setting.readDelivery()).toMatchObject({ status });
    expect(await setting.readEndpoint()).toMatchObject({ status: 'auto_disabled', consecutiveFailures: 10 });
  });

  it.each([
    ['a success resets a failure', OK, 3, 4, 0],
    ['a failure counts from one after a success', FAILED, 9, 0, 1],
  ])(
    'is counted as the settlement finds it: %s that came after its read',
    async (_, answer, read, now, end) => {
      const setting = await aDispatch({
        delivery: { attempts: 7 },
        endpoint: { consecutiveFailures: read },
        attempt: () => answer,
      });
      actBefore(setting, 'TransactWrite', () =>
        setting.endpoints.put({ ...setting.endpoint, consecutiveFailures: now }),
      );

      expect(await setting.dispatch()).toEqual(DELETE);
      expect(await setting.readEndpoint()).toMatchObject({ status: 'active', consecutiveFailures: end });
    },
  );

  it('stays deleted, and the delivery ends with the outcome of its attempt', async () => {
    const setting = await aDispatch({
      delivery: { attempts: 7 },
      attempt: () => {
        setting.endpoints.remove(setting.endpoint.orgId, setting.endpoint.id);
        return FAILED;
      },
    });

    expect(await setting.dispatch()).toEqual(DELETE);
    expect(await setting.readDelivery()).toMatchObject({ status: 'exhausted' });
    expect(await setting.readEndpoint()).toBeUndefined();
  });

  it('fails the settlement when it changes at every try, so that the lease decides', async () => {
    let settlements = 0;
    const setting = await aDispatch({ delivery: { attempts: 7 }, attempt: () => FAILED });
    setting.endpoints.service.pass = async (operation, _input, answer) => {
      // It has none of the failures that were read: another delivery to it has succeeded, or failed again.
      if (operation === 'TransactWrite') {
        settlements += 1;
        setting.endpoints.put({ ...setting.endpoint, consecutiveFailures: settlements % 2 === 1 ? 4 : 0 });
      }
      return answer();
    };

    await expect(setting.dispatch()).rejects.toThrow(setting.endpoint.id);
    expect(settlements).toBe(20);
    expect(await setting.readDelivery()).toMatchObject({ status: 'pending', attempts: 8 });
  });
});
