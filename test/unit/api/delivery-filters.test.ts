import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { describeFilters } from '../../../functions/api/deliveries.ts';
import { ListDeliveriesQuery } from '../../../functions/api/fields.ts';
import { DeliveryStatus } from '../../../functions/delivery/delivery.ts';
import { EventTypeName } from '../../../functions/events/events.ts';

const query = (given: Record<string, string>) => ListDeliveriesQuery.safeParse(given);
const someNames = (names: readonly string[]) => fc.subarray([...names], { minLength: 1 });

describe('delivery filters', () => {
  it('are lists of names, in any order, repeated or not', () => {
    fc.assert(
      fc.property(
        someNames(DeliveryStatus.options),
        someNames(EventTypeName.options),
        (status, eventType) => {
          const given = {
            status: [...status, ...status].reverse().join(','),
            eventType: eventType.join(','),
          };
          const { data } = query(given);
          expect(new Set(data?.status)).toEqual(new Set(status));
          expect(data?.status).toHaveLength(status.length);
          expect(new Set(data?.eventType)).toEqual(new Set(eventType));
        },
      ),
    );
  });

  it.each([
    '',
    ',',
    'failed',
    'exhausted,',
    ',exhausted',
    'exhausted, skipped',
    'EXHAUSTED',
    'exhausted;skipped',
  ])('reject the status %j', (status) => {
    const { error } = query({ status });
    expect(error?.issues[0]?.message).toMatch(/^must be a comma-separated list of values from pending, /);
  });

  it.each(['ticketxcreated', 'ticket', '__proto__'])('reject the event type %j', (eventType) => {
    expect(query({ eventType }).success).toBe(false);
  });

  it.each([
    ['2026-11-20T09:30:00Z', '2026-11-20T09:30:00.000Z'],
    ['2026-11-20T09:30:00.123456Z', '2026-11-20T09:30:00.123Z'],
    ['2026-11-20T09:30:00+00:00', '2026-11-20T09:30:00.000Z'],
    ['2026-11-20T09:30:00-05:30', '2026-11-20T15:00:00.000Z'],
  ])('accept the time %s', (from, utc) => {
    expect(query({ from }).data?.from).toEqual(new Date(utc));
  });

  it.each([
    '',
    '0',
    '2026-11-20',
    '2026-11-20T09:30:00',
    '2026-11-20T09:30:00+25:00',
    '2026-02-30T00:00:00Z',
  ])('reject the time %j', (from) => {
    expect(query({ from }).error?.issues[0]?.message).toMatch(/^must be a time such as/);
  });

  it('replace a time before 1970, which no id can have, by the first one', () => {
    expect(query({ from: '0001-01-01T00:00:00Z' }).data?.from).toEqual(new Date(0));
  });
});

describe('cursor of a delivery list', () => {
  const bound = (given: Readonly<Record<string, string | undefined>>) =>
    describeFilters(ListDeliveriesQuery.parse(given));

  it('is bound to nothing more without filters, so that older cursors stay valid', () => {
    for (const given of [{}, { limit: '5' }, { include: 'request' }]) expect(bound(given)).toEqual([]);
  });

  it('is bound to the filters, in any notation', () => {
    const written = bound({ status: 'exhausted,skipped', from: '2026-11-20T09:30:00Z' });
    expect(bound({ status: 'skipped,exhausted,skipped', from: '2026-11-20T09:30:00.000Z' })).toEqual(written);
  });

  it('differs for each other filter', () => {
    const all = [
      {},
      { status: 'exhausted' },
      { status: 'exhausted,skipped' },
      { eventType: 'ticket.created' },
      { from: '2026-11-20T09:30:00Z' },
      { to: '2026-11-20T09:30:00Z' },
      { from: '2026-11-20T09:30:00Z', to: '2026-11-20T10:30:00Z' },
      { status: 'exhausted', from: '2026-11-20T09:30:00Z' },
    ].map((given) => JSON.stringify(bound(given)));
    expect(new Set(all).size).toBe(all.length);
  });
});
