import { describe, expect, it } from 'vitest';
import { newId } from '../../../functions/aws/ids.ts';
import { DeliveryMessage, toDeliveryMessage } from '../../../functions/delivery/delivery.ts';
import { createRedelivery } from '../../../functions/delivery/redelivery.ts';
import { createNotice, toBusEvent } from '../../../functions/events/bus.ts';
import { OutboxEvent } from '../../../functions/events/events.ts';
import { aDelivery, anEndpoint, anEvent, aTenant, NOW } from '../../builders.ts';
import { aDispatch, FAILED } from './dispatch-fixture.ts';

const tenant = aTenant();
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

  it('is on the bus with events and notices', () => {
    expect(toBusEvent({ ...anEvent({ tenant }), traceId: CALL })?.traceId).toBe(CALL);
    const sourceId = newId('src', NOW);
    const notice = createNotice('source.check', 'id', { sourceId }, { tenant, now: NOW, traceId: CALL });
    expect(notice.traceId).toBe(CALL);
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

describe('data without traces', () => {
  it('is read without a trace', () => {
    const event = anEvent();
    expect(OutboxEvent.parse(event)).not.toHaveProperty('traceId');
    expect(DeliveryMessage.parse(aDelivery())).not.toHaveProperty('traceId');
    expect(toDeliveryMessage(aDelivery())).not.toHaveProperty('traceId');
    expect(toBusEvent(event)).not.toHaveProperty('traceId');
  });
});
