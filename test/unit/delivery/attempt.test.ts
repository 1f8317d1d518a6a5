import { describe, expect, it } from 'vitest';
import type { WebhookRequest } from '../../../functions/delivery/delivery.ts';
import { aDelivery, later, NOW, seconds } from '../../builders.ts';
import { actBefore, aDispatch, FAILED, LEASE_SECONDS, OK } from './dispatch-fixture.ts';

const DELETE = { kind: 'delete' };
const keepUntil = (until: Date) => ({ kind: 'keep', until });

/** Dispatches a delivery at each time that it is due, until it has ended. */
async function untilItEnds({ dispatch, clock, readDelivery }: Awaited<ReturnType<typeof aDispatch>>) {
  const due = [];
  for (let next: string | undefined = NOW.toISOString(); next; next = (await readDelivery())?.nextRetryAt) {
    clock.elapseUntil(new Date(next));
    due.push(clock.now());
    await dispatch();
  }
  return due;
}

describe('dispatcher with a due delivery', () => {
  it('marks it as succeeded and deletes the message when the receiver accepts it', async () => {
    const { dispatch, readDelivery, attempts } = await aDispatch();

    expect(await dispatch()).toEqual(DELETE);

    expect(attempts).toEqual([1]);
    expect(await readDelivery()).toMatchObject({
      status: 'succeeded',
      attempts: 1,
      terminalAt: NOW.toISOString(),
    });
  });

  it('keeps the message until the next attempt when the receiver refuses it', async () => {
    const { dispatch, readDelivery } = await aDispatch({ attempt: () => FAILED });

    expect(await dispatch()).toEqual(keepUntil(later(NOW, seconds(30))));

    expect(await readDelivery()).toMatchObject({
      status: 'retrying',
      lastError: FAILED.error,
      lastErrorCode: 'http_status',
      attemptLog: [{ error: FAILED.error, errorCode: 'http_status' }],
    });
  });

  it('measures the wait from the end of the attempt', async () => {
    const setting = await aDispatch({
      attempt: () => {
        setting.clock.elapse(10);
        return FAILED;
      },
    });

    expect(await setting.dispatch()).toEqual(keepUntil(later(NOW, seconds(40))));
    expect((await setting.readDelivery())?.attemptLog).toMatchObject([
      { startedAt: NOW.toISOString(), durationMs: 10_000 },
    ]);
  });

  it('marks it as exhausted and counts an endpoint failure after the eighth failed attempt', async () => {
    const { dispatch, readDelivery, readEndpoint, attempts } = await aDispatch({
      delivery: { status: 'retrying', attempts: 7, nextRetryAt: NOW.toISOString() },
      attempt: () => FAILED,
    });

    expect(await dispatch()).toEqual(DELETE);

    expect(attempts).toEqual([8]);
    expect(await readDelivery()).toMatchObject({ status: 'exhausted', terminalReason: 'max_attempts' });
    expect(await readEndpoint()).toMatchObject({ consecutiveFailures: 1 });
  });

  it('makes eight attempts over 63.5 minutes at a receiver that never accepts', async () => {
    const setting = await aDispatch({ attempt: () => FAILED });

    await untilItEnds(setting);

    expect(setting.attempts).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
    expect(setting.clock.now()).toEqual(later(NOW, seconds(63.5 * 60)));
  });
});

describe('dispatcher with a delivery that it cannot attempt', () => {
  it("keeps the message until another worker's lease ends", async () => {
    const { claim, dispatch, attempts } = await aDispatch();
    await claim();

    expect(await dispatch()).toEqual(keepUntil(later(NOW, seconds(LEASE_SECONDS))));
    expect(attempts).toEqual([]);
  });

  it('keeps the message until the retry is due', async () => {
    const due = later(NOW, seconds(60));
    const { dispatch, attempts } = await aDispatch({
      delivery: { status: 'retrying', attempts: 2, nextRetryAt: due.toISOString() },
    });

    expect(await dispatch()).toEqual(keepUntil(due));
    expect(attempts).toEqual([]);
  });

  it.each(['succeeded', 'exhausted', 'skipped'] as const)(
    'deletes the message of a delivery that has %s',
    async (status) => {
      const { dispatch, delivery, readDelivery, attempts } = await aDispatch({
        delivery: { status, terminalAt: NOW.toISOString() },
      });

      expect(await dispatch()).toEqual(DELETE);
      expect(attempts).toEqual([]);
      expect(await readDelivery()).toEqual(delivery);
    },
  );

  it('deletes the message of a delivery that does not exist', async () => {
    const { processMessage, endpoint, event, attempts } = await aDispatch();

    expect(await processMessage(aDelivery({ webhookId: endpoint.id }), { endpoint, event }, 'fresh')).toEqual(
      DELETE,
    );
    expect(attempts).toEqual([]);
  });

  it('marks a delivery as exhausted whose eighth attempt was never recorded, and counts it', async () => {
    const { claim, clock, dispatch, readDelivery, readEndpoint, attempts } = await aDispatch({
      delivery: { attempts: 7 },
      endpoint: { consecutiveFailures: 9 },
    });
    await claim();
    clock.elapse(LEASE_SECONDS);

    expect(await dispatch()).toEqual(DELETE);

    expect(attempts).toEqual([]);
    expect(await readDelivery()).toMatchObject({
      status: 'exhausted',
      attempts: 8,
      terminalReason: 'max_attempts',
      lastError: expect.stringContaining('never recorded'),
      lastErrorCode: 'lost',
    });
    expect(await readEndpoint()).toMatchObject({ status: 'auto_disabled' });
  });

  it('skips a delivery whose event is missing, without an attempt, and logs an error', async () => {
    const { processMessage, deliveryMessage, endpoint, delivery, readDelivery, readEndpoint, attempts, log } =
      await aDispatch();

    expect(await processMessage(deliveryMessage, { endpoint, event: undefined }, 'fresh')).toEqual(DELETE);

    expect(attempts).toEqual([]);
    expect(await readDelivery()).toMatchObject({
      status: 'skipped',
      terminalReason: 'event_missing',
      attempts: 0,
    });
    expect(await readEndpoint()).toEqual(endpoint);
    expect(log.entries).toMatchObject([
      { level: 'error', fields: { deliveryId: delivery.id, eventId: delivery.eventId } },
    ]);
  });
});

describe('dispatcher with a deleted or disabled endpoint', () => {
  it('skips the delivery of a deleted endpoint without an attempt', async () => {
    const { dispatch, endpoints, endpoint, readDelivery, attempts } = await aDispatch();
    endpoints.remove(endpoint.orgId, endpoint.id);

    expect(await dispatch()).toEqual(DELETE);

    expect(attempts).toEqual([]);
    expect(await readDelivery()).toMatchObject({
      status: 'skipped',
      terminalReason: 'endpoint_deleted',
      attempts: 0,
    });
  });

  it('skips the delivery of a disabled endpoint without an attempt, even before a retry is due', async () => {
    const { dispatch, readDelivery, attempts } = await aDispatch({
      endpoint: { status: 'auto_disabled' },
      delivery: { status: 'retrying', attempts: 3, nextRetryAt: later(NOW, seconds(60)).toISOString() },
    });

    expect(await dispatch()).toEqual(DELETE);

    expect(attempts).toEqual([]);
    expect(await readDelivery()).toMatchObject({
      status: 'skipped',
      terminalReason: 'endpoint_disabled',
      attempts: 3,
    });
  });

  it('keeps the message while another worker still attempts the delivery', async () => {
    const { claim, dispatch, endpoints, endpoint, readDelivery } = await aDispatch();
    await claim();
    const claimed = await readDelivery();
    endpoints.remove(endpoint.orgId, endpoint.id);

    expect(await dispatch()).toEqual(keepUntil(later(NOW, seconds(LEASE_SECONDS))));
    expect(await readDelivery()).toEqual(claimed);
  });
});

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
});

describe('endpoint that changes during an attempt', () => {
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

const request: WebhookRequest = { method: 'POST', url: 'https://example.com/', headers: {}, body: '{}' };
describe('sandbox delivery', () => {
  it('follows the schedule at the speed that its endpoint asks for', async () => {
    const setting = await aDispatch({
      sandbox: true,
      endpoint: { url: 'https://receiver.example.com/hook?simulate-speed=100' },
      attempt: () => {
        setting.clock.elapse(0.1);
        return { ...FAILED, simulated: request };
      },
    });

    const due = await untilItEnds(setting);

    const waits = [0, 30, 60, 120, 240, 480, 960, 1920];
    const real = waits.map(
      (_, index) => waits.slice(0, index + 1).reduce((sum, wait) => sum + wait, 0) + index * 10,
    );
    expect(due).toEqual(real.map((after) => later(NOW, seconds(after) / 100)));
    const ended = await setting.readDelivery();
    expect(ended?.attemptLog.map(({ startedAt }) => new Date(startedAt))).toEqual(due);
    expect(ended).toMatchObject({
      status: 'exhausted',
      terminalAt: later(NOW, seconds(63.5 * 60 + 80) / 100).toISOString(),
    });
  });
});
