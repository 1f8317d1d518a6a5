import { describe, expect, it } from 'vitest';
import { reminderOf } from '../../../functions/domain/delivery.ts';
import { newId } from '../../../functions/domain/ids.ts';
import { EVENT_DAYS, HISTORY_DAYS } from '../../../functions/domain/redelivery.ts';
import { outboxStore, owedBy } from '../../../functions/store/outbox.ts';
import { aDelivery, anEvent, later, NOW, seconds } from '../../builders.ts';

const store = outboxStore({ name: 'outbox' });
const EXPIRY = later(NOW, seconds(EVENT_DAYS * 86_400)).getTime() / 1000;

describe('a row of the outbox', () => {
  it('of an event owes the event', () => {
    const event = anEvent();
    expect(owedBy(store.append(event).write.Put?.Item)).toEqual({ kind: 'event', event });
  });

  it('of a redelivery owes its reminder, under a key that no event has', () => {
    const reminder = reminderOf(aDelivery({ redeliveryOf: newId('dlv', NOW) }));
    const row = store.appendRedelivery(reminder).write.Put?.Item;
    expect(owedBy(row)).toEqual({ kind: 'redelivery', reminder });
    expect(row).toMatchObject({ pk: reminder.id });
  });

  it.each([
    ['nothing', {}],
    ['an order without its reminder', { kind: 'redelivery' }],
    ['an order of something else', { kind: 'refund', reminder: reminderOf(aDelivery()) }],
    ['an event that calls itself an order', { ...anEvent(), kind: 'redelivery' }],
    ['an event that calls itself something else', { ...anEvent(), kind: 'refund' }],
    ['an event without its body', { ...anEvent(), body: undefined }],
  ])('that holds %s is refused', (_what, row) => {
    expect(() => owedBy(row)).toThrow();
  });

  it('of an event outlives the days in which the event can be sent again', () => {
    const event = anEvent();
    expect(store.append(event).write.Put?.Item).toMatchObject({ expiresAt: EXPIRY });
    expect(EVENT_DAYS).toBeGreaterThan(HISTORY_DAYS);
  });

  it('of a redelivery expires as well', () => {
    const reminder = reminderOf(aDelivery({ id: newId('dlv', NOW) }));
    expect(store.appendRedelivery(reminder).write.Put?.Item).toMatchObject({ expiresAt: EXPIRY });
  });
});
