import { describe, expect, it } from 'vitest';
import { aDelivery, later, NOW, seconds } from '../../builders.ts';
import { aDispatch, FAILED, LEASE_SECONDS } from './dispatch-fixture.ts';

const DELETE = { kind: 'delete' };
const keepUntil = (until: Date) => ({ kind: 'keep', until });

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
    const { dispatch, clock, readDelivery, attempts } = await aDispatch({ attempt: () => FAILED });

    for (let due: string | undefined = NOW.toISOString(); due; due = (await readDelivery())?.nextRetryAt) {
      clock.elapseUntil(new Date(due));
      await dispatch();
    }

    expect(attempts).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
    expect(clock.now()).toEqual(later(NOW, seconds(63.5 * 60)));
  });

  it("resets the endpoint's failure count after a success", async () => {
    const { dispatch, readEndpoint } = await aDispatch({ endpoint: { consecutiveFailures: 9 } });

    await dispatch();

    expect(await readEndpoint()).toMatchObject({ consecutiveFailures: 0, status: 'active' });
  });

  it('disables the endpoint after the tenth exhausted delivery, and logs it once', async () => {
    const { dispatch, readEndpoint, log, endpoint } = await aDispatch({
      delivery: { attempts: 7 },
      endpoint: { consecutiveFailures: 9 },
      attempt: () => FAILED,
    });

    await dispatch();

    expect(await readEndpoint()).toMatchObject({ status: 'auto_disabled', consecutiveFailures: 10 });
    expect(log.entries.filter(({ level }) => level === 'warn')).toMatchObject([
      { fields: { webhookId: endpoint.id, orgId: endpoint.orgId } },
    ]);
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

  it('leaves a delivery whose event is missing to the worker that still attempts it', async () => {
    const { processMessage, claim, deliveryMessage, endpoint, readDelivery } = await aDispatch();
    await claim();
    const claimed = await readDelivery();

    expect(await processMessage(deliveryMessage, { endpoint, event: undefined }, 'fresh')).toEqual(
      keepUntil(later(NOW, seconds(LEASE_SECONDS))),
    );
    expect(await readDelivery()).toEqual(claimed);
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

  it('deletes the message when another worker has ended the delivery', async () => {
    const { dispatch, endpoints, endpoint, readDelivery } = await aDispatch();
    await dispatch();
    const ended = await readDelivery();
    endpoints.remove(endpoint.orgId, endpoint.id);

    expect(await dispatch()).toEqual(DELETE);
    expect(await readDelivery()).toEqual(ended);
  });
});
