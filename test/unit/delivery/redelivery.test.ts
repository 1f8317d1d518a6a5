import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { deriveJobDeliveryId, newId } from '../../../functions/aws/ids.ts';
import {
  createDelivery,
  Delivery,
  DeliveryStatus,
  toDeliveryMessage,
} from '../../../functions/delivery/delivery.ts';
import { createRedelivery, isRequestedByCustomer } from '../../../functions/delivery/redelivery.ts';
import { getClaimability } from '../../../functions/delivery/rows.ts';
import { MAX_ATTEMPTS, scheduleNextAttempt } from '../../../functions/delivery/timing.ts';
import { EVENT_DAYS, HISTORY_DAYS } from '../../../functions/events/events.ts';
import { EndpointStatus } from '../../../functions/receivers/endpoint.ts';
import { readSettings } from '../../../lib/infra/settings.ts';
import { aDelivery, anEndpoint, anEvent, later, NOW, seconds } from '../../builders.ts';
import { aDispatch, FAILED } from './dispatch-fixture.ts';

const TERMINAL = ['succeeded', 'exhausted', 'skipped'] as const satisfies readonly DeliveryStatus[];
const DAY = seconds(86_400);
const active = anEndpoint();

/** Deliveries in any state, and the age of their event. */
const endings = fc
  .record({
    status: fc.constantFrom(...DeliveryStatus.options),
    attempts: fc.integer({ min: 0, max: MAX_ATTEMPTS }),
    generation: fc.nat(9),
    leased: fc.boolean(),
    repeated: fc.boolean(),
    age: fc.integer({ min: 0, max: 2 * HISTORY_DAYS * DAY }),
  })
  .map(({ status, attempts, generation, leased, repeated, age }) => ({
    age,
    delivery: aDelivery({
      eventId: newId('evt', later(NOW, -age)),
      status,
      attempts,
      generation,
      lastError: 'refused',
      ...(leased && { lease: { token: 't', until: NOW.getTime() + 1 } }),
      ...(repeated && { redeliveryOf: newId('dlv', NOW) }),
    }),
  }));

/** The new delivery. @throws when it is refused */
function again(delivery: Delivery, now = NOW): Delivery {
  const redelivery = createRedelivery(delivery, active, now);
  if (redelivery.kind === 'refused') throw new Error(`refused: ${redelivery.why}`);
  return redelivery.delivery;
}

describe('redelivery', () => {
  it('is created exactly of an ended delivery, for an active endpoint, while its event can be resent', () => {
    fc.assert(
      fc.property(endings, fc.constantFrom(...EndpointStatus.options), ({ delivery, age }, status) => {
        const { kind } = createRedelivery(delivery, { ...active, status }, NOW);
        const allowed =
          TERMINAL.some((terminal) => terminal === delivery.status) &&
          status === 'active' &&
          age <= HISTORY_DAYS * DAY;
        expect(kind).toBe(allowed ? 'redeliver' : 'refused');
      }),
      { numRuns: 1000 },
    );
  });

  it('is a new delivery of the same event to the same endpoint, with the id of the original', () => {
    fc.assert(
      fc.property(endings, ({ delivery }) => {
        const redelivery = createRedelivery(delivery, active, NOW);
        if (redelivery.kind === 'refused') return;
        const { orgId, generation, webhookId, eventId, eventType } = delivery;
        expect(redelivery.delivery).toEqual({
          id: expect.not.stringMatching(delivery.id),
          orgId,
          generation,
          webhookId,
          eventId,
          eventType,
          status: 'pending',
          attempts: 0,
          attemptLog: [],
          createdAt: NOW.toISOString(),
          redeliveryOf: delivery.id,
        });
        expect(Delivery.parse(redelivery.delivery)).toEqual(redelivery.delivery);
        expect(getClaimability(redelivery.delivery, NOW, MAX_ATTEMPTS)).toEqual({ kind: 'claimable' });
      }),
    );
  });

  it('can itself be resent, for as long as the event can', () => {
    const delivery = aDelivery({ status: 'exhausted' });
    const first: Delivery = { ...again(delivery, later(NOW, 20 * DAY)), status: 'exhausted' };
    const end = later(NOW, HISTORY_DAYS * DAY);

    expect(again(first, end)).toMatchObject({ eventId: delivery.eventId, redeliveryOf: first.id });
    expect(createRedelivery(first, active, later(end, 1))).toEqual({ kind: 'refused', why: 'event-expired' });
  });

  it.each(['pending', 'retrying'] as const)('is refused while the delivery is %s', (status) => {
    const delivery = aDelivery({ status });
    expect(createRedelivery(delivery, active, NOW)).toEqual({ kind: 'refused', why: 'still-open' });
  });

  it.each(TERMINAL)('of a delivery that is %s is refused while its endpoint is disabled', (status) => {
    const disabled = anEndpoint({ status: 'auto_disabled' });
    const delivery = aDelivery({ status });
    expect(createRedelivery(delivery, disabled, NOW)).toEqual({ kind: 'refused', why: 'auto_disabled' });
  });
});

describe('stored event', () => {
  it('is kept until the last attempt of its last redelivery, for the slowest retries', () => {
    const slowest = { baseSeconds: 3600, capSeconds: 43_200, maxAttempts: MAX_ATTEMPTS };
    const settings = (changes: Record<string, number>) =>
      readSettings('dev', { class: 'development', ...changes });
    expect(() => settings({ retryBaseSeconds: 3601, retryCapSeconds: 43_200 })).toThrow('retryBaseSeconds');
    expect(() => settings({ retryCapSeconds: 43_201 })).toThrow('retryCapSeconds');
    let due = later(NOW, HISTORY_DAYS * DAY);
    for (let attempt = 1; attempt < MAX_ATTEMPTS; attempt += 1)
      due = scheduleNextAttempt(attempt, later(due, seconds(60)), slowest);

    expect(due.getTime()).toBeLessThan(later(NOW, EVENT_DAYS * DAY).getTime());
  });
});

describe('delivery that a user has requested', () => {
  const event = anEvent();
  const original = { ...createDelivery(event, active, NOW), status: 'succeeded' as const };

  it('is a redelivery, also when only its message is known', () => {
    expect(isRequestedByCustomer(toDeliveryMessage(again(original)), event)).toBe(true);
  });

  it('is an example of another type, which one endpoint alone gets', () => {
    const onlyTo = original.webhookId;
    expect(isRequestedByCustomer(original, { type: 'ticket.created', onlyTo })).toBe(true);
  });

  it('is not a delivery of a redelivery job, for any event', () => {
    const id = deriveJobDeliveryId(event.id, original.webhookId, later(NOW, seconds(60)));
    expect(isRequestedByCustomer({ ...toDeliveryMessage(original), id }, event)).toBe(false);
    expect(isRequestedByCustomer({ ...toDeliveryMessage(original), id }, { type: 'webhook.test' })).toBe(
      false,
    );
  });
});

const CALL = '1-5759e988-bd862e3fe1be46a994272793';
const OTHER = '1-5759e988-000000000000000000000000';

const listTraceIds = (log: { entries: { fields: Record<string, unknown> }[] }) =>
  log.entries.map(({ fields }) => fields.traceId);

describe('trace of an API call', () => {
  it.each([
    ['succeeds', undefined],
    ['fails', () => FAILED],
  ])('is in every log line of an attempt that %s', async (_, attempt) => {
    const { processMessage, deliveryMessage, endpoint, event, log } = await aDispatch(
      attempt ? { attempt } : {},
    );
    await processMessage(deliveryMessage, { endpoint, event: { ...event, traceId: CALL } }, 'fresh');
    expect(log.entries.length).toBeGreaterThan(0);
    expect(new Set(listTraceIds(log))).toEqual(new Set([CALL]));
  });

  it('is in the log lines of a delivery whose event is missing, taken from the message', async () => {
    const { processMessage, deliveryMessage, endpoint, log } = await aDispatch();
    await processMessage({ ...deliveryMessage, traceId: CALL }, { endpoint, event: undefined }, 'fresh');
    expect(log.entries).toMatchObject([{ code: 'EVENT_MISSING', fields: { traceId: CALL } }]);
  });

  it('is in the notice of the endpoint that its delivery disables, and on the bus', async () => {
    const { processMessage, deliveryMessage, endpoint, event, log, deliveries } = await aDispatch({
      delivery: { attempts: 7 },
      endpoint: { consecutiveFailures: 9 },
      attempt: () => FAILED,
    });
    await processMessage(deliveryMessage, { endpoint, event: { ...event, traceId: CALL } }, 'fresh');
    expect(new Set(listTraceIds(log))).toEqual(new Set([CALL]));
    const [notice] = deliveries.notices;
    expect(notice?.traceId).toBe(CALL);
  });
});

describe('resent delivery', () => {
  const redelivered = () => {
    const delivery = aDelivery({ status: 'succeeded', eventId: newId('evt', NOW) });
    const redelivery = createRedelivery(delivery, anEndpoint(), NOW, OTHER);
    if (redelivery.kind !== 'redeliver') throw new Error(redelivery.why);
    return redelivery.delivery;
  };

  it('has the trace of the call that resent it, as its message has', () => {
    expect(redelivered().traceId).toBe(OTHER);
    expect(toDeliveryMessage(redelivered()).traceId).toBe(OTHER);
  });

  it("logs its own trace and not its event's, even when its message has none", async () => {
    const { processMessage, deliveryMessage, endpoint, event, log } = await aDispatch({
      delivery: { traceId: OTHER },
    });
    const { traceId: _, ...ofTheIndex } = deliveryMessage;
    await processMessage(ofTheIndex, { endpoint, event: { ...event, traceId: CALL } }, 'retry');
    expect(listTraceIds(log)).toEqual([OTHER]);
  });
});
