import { describe, expect, it } from 'vitest';
import { newId } from '../../../functions/aws/ids.ts';
import { toDeliveryMessage } from '../../../functions/delivery/delivery.ts';
import { outboxStore, PUBLICATION, WORK } from '../../../functions/delivery/outbox.ts';
import { createNotice } from '../../../functions/events/bus.ts';
import { EVENT_DAYS, HISTORY_DAYS } from '../../../functions/events/events.ts';
import type { Tenant } from '../../../functions/tenancy/tenant.ts';
import { aDelivery, anEvent, aSandboxTenant, aTenant, later, NOW, seconds } from '../../builders.ts';
import { memoryTables } from '../../doubles/tables/stack-tables.ts';

const store = outboxStore(memoryTables().outbox);
const EXPIRY = later(NOW, seconds(EVENT_DAYS * 86_400)).getTime() / 1000;

const sourceId = newId('src', NOW);
const aNotice = (tenant: Tenant = aTenant()) =>
  createNotice('source.check', `${sourceId}#now`, { sourceId }, { tenant, now: NOW });

describe('outbox row', () => {
  it('of an event has the event', () => {
    const event = anEvent();
    expect(WORK.parse(store.append(event).write.Put?.Item)).toEqual({ kind: 'event', event });
  });

  it('of a redelivery has its delivery message, under a key that no event has', () => {
    const deliveryMessage = toDeliveryMessage(aDelivery({ redeliveryOf: newId('dlv', NOW) }));
    const row = store.appendRedelivery(deliveryMessage).write.Put?.Item;
    expect(WORK.parse(row)).toEqual({ kind: 'redelivery', deliveryMessage });
    expect(row).toMatchObject({ pk: deliveryMessage.id });
  });

  it.each([
    ['nothing', {}],
    ['a kind that is no text', { ...anEvent(), kind: 7 }],
    ['a redelivery without its message', { kind: 'redelivery' }],
    ['an event of the kind of a redelivery', { ...anEvent(), kind: 'redelivery' }],
    ['an event without its body', { ...anEvent(), body: undefined }],
  ])('that holds %s is rejected', (_what, row) => {
    expect(() => WORK.parse(row)).toThrow();
  });

  it.each([
    ['a notice for the service itself', store.appendNotice(aNotice()).write.Put?.Item],
    ['an unknown kind of entry', { kind: 'refund', deliveryMessage: toDeliveryMessage(aDelivery()) }],
  ])('that holds %s has no work for an endpoint', (_what, row) => {
    expect(WORK.parse(row)).toBeUndefined();
  });

  it('of any kind has the generation of its sandbox, and none when it is live', () => {
    const listMarks = (tenant: Tenant) =>
      [
        store.append(anEvent({ tenant })),
        store.appendRedelivery(toDeliveryMessage(aDelivery(tenant))),
        store.appendNotice(aNotice(tenant)),
      ].map(({ write }) => write.Put?.Item?.ofSandbox);
    const sandbox = aSandboxTenant({ generation: 3 });

    expect(new Set(listMarks(sandbox))).toEqual(new Set([`${sandbox.orgId}#3`]));
    expect(new Set(listMarks(aTenant()))).toEqual(new Set([undefined]));
  });

  it('of an event lives longer than the event can be resent', () => {
    const event = anEvent();
    expect(store.append(event).write.Put?.Item).toMatchObject({ expiresAt: EXPIRY });
    expect(EVENT_DAYS).toBeGreaterThan(HISTORY_DAYS);
  });

  it('of a redelivery expires as well', () => {
    const deliveryMessage = toDeliveryMessage(aDelivery({ id: newId('dlv', NOW) }));
    expect(store.appendRedelivery(deliveryMessage).write.Put?.Item).toMatchObject({ expiresAt: EXPIRY });
  });
});

describe('outbox row, read for the bus,', () => {
  it('of an event has the event, under its key', () => {
    const event = anEvent();
    const row = store.append(event).write.Put?.Item;
    expect(row).toMatchObject({ pk: expect.stringMatching(`^${event.orgId}#0#events#[0-3]$`), sk: event.id });
    expect(PUBLICATION.parse(row)).toMatchObject({ id: event.id, type: event.type, orgId: event.orgId });
  });

  it.each([
    ['an event', anEvent({ tenant: aSandboxTenant() })],
    ['a notice', aNotice()],
  ])('of %s has the key that its bus event names', (_what, entry) => {
    const { write } = 'body' in entry ? store.append(entry) : store.appendNotice(entry);
    const { pk, sk } = write.Put?.Item ?? {};
    const event = PUBLICATION.parse(write.Put?.Item);
    expect(event && PUBLICATION.describe(event).key).toEqual({ pk, sk });
  });

  it('of a notice has the notice, under its key', () => {
    const tenant = aSandboxTenant();
    const { write } = store.appendNotice(aNotice(tenant));

    expect(write.Put).toMatchObject({
      Item: { pk: `${sourceId}#now`, expiresAt: EXPIRY },
    });
    expect(PUBLICATION.parse(write.Put?.Item)).toEqual({
      id: `${sourceId}#now`,
      type: 'source.check',
      ...tenant,
      createdAt: NOW.toISOString(),
      data: { sourceId },
    });
  });

  it.each([
    ['an event for one endpoint alone', store.append(anEvent({ onlyTo: newId('whk', NOW) })).write.Put?.Item],
    ['a redelivery', store.appendRedelivery(toDeliveryMessage(aDelivery())).write.Put?.Item],
    ['an unknown kind of entry', { kind: 'refund' }],
  ])('of %s has no event', (_what, row) => {
    expect(PUBLICATION.parse(row)).toBeUndefined();
  });

  it.each([
    ['nothing', {}],
    ['an event without its body', { ...anEvent(), body: undefined }],
    ['an event whose body has another form', { ...anEvent(), body: '"hello"' }],
    ['a notice without its organization', { ...aNotice(), orgId: undefined }],
  ])('that holds %s is rejected', (_what, row) => {
    expect(() => PUBLICATION.parse(row)).toThrow();
  });
});
