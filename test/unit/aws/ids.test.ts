import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  ConversationId,
  DeliveryId,
  deriveDeliveryId,
  deriveJobDeliveryId,
  EndpointId,
  EscalationId,
  EventId,
  KeyId,
  MessageId,
  newId,
  OrgId,
  parseCreationTime,
  parseTraceId,
  TicketId,
} from '../../../functions/aws/ids.ts';
import { NOW } from '../../builders.ts';
import { idsOf, times } from './arbitraries.ts';

const schemas = {
  org: OrgId,
  key: KeyId,
  whk: EndpointId,
  evt: EventId,
  dlv: DeliveryId,
  cnv: ConversationId,
  msg: MessageId,
  esc: EscalationId,
  tkt: TicketId,
} as const;
const prefixes = Object.keys(schemas) as (keyof typeof schemas)[];

describe('new id', () => {
  it.each(prefixes)('of type %s has its type, and no other', (prefix) => {
    const id = newId(prefix, NOW);
    for (const other of prefixes) expect(schemas[other].safeParse(id).success).toBe(other === prefix);
  });

  it('sorts as text by its creation time', () => {
    fc.assert(
      fc.property(times, times, (time, otherTime) => {
        fc.pre(time.getTime() !== otherTime.getTime());
        expect(newId('msg', time) < newId('msg', otherTime)).toBe(time < otherTime);
      }),
    );
  });

  it('has its creation time to the millisecond', () => {
    fc.assert(
      fc.property(times, fc.constantFrom(...prefixes), (time, prefix) => {
        expect(parseCreationTime(newId(prefix, time))).toEqual(time);
      }),
    );
  });

  it('differs from all others of its millisecond', () => {
    const ids = Array.from({ length: 5_000 }, () => newId('evt', NOW));
    expect(new Set(ids).size).toBe(ids.length);
  });
});

describe('malformed id', () => {
  const body = newId('whk', NOW).slice('whk_'.length);

  it.each([
    '',
    body,
    'whk_',
    `whk_${body.slice(1)}`,
    `whk_${body}0`,
    `whk_${body.toUpperCase().replace(/^./, 'A')}`,
    `WHK_${body}`,
    `whk-${body}`,
    ` whk_${body}`,
    `whk_${body}\n`,
    `whk_${body.slice(1)}g`,
    `whk_${body}#0`,
  ])('%j is rejected', (text) => {
    expect(EndpointId.safeParse(text).success).toBe(false);
  });
});

describe('delivery id', () => {
  it('is the same each time it is derived', () => {
    fc.assert(
      fc.property(idsOf('evt'), idsOf('whk'), (event, endpoint) => {
        const id = deriveDeliveryId(event, endpoint);
        expect(DeliveryId.parse(id)).toBe(id);
        expect(deriveDeliveryId(event, endpoint)).toBe(id);
      }),
    );
  });

  it('differs between events and between endpoints', () => {
    const events = Array.from({ length: 60 }, () => newId('evt', NOW));
    const endpoints = Array.from({ length: 60 }, () => newId('whk', NOW));
    const ids = events.flatMap((event) => endpoints.map((endpoint) => deriveDeliveryId(event, endpoint)));
    expect(new Set(ids).size).toBe(ids.length);
  });

  it('has the time of its event', () => {
    fc.assert(
      fc.property(times, idsOf('whk'), (time, endpoint) => {
        expect(parseCreationTime(deriveDeliveryId(newId('evt', time), endpoint))).toEqual(time);
      }),
    );
  });

  it('of a redelivery job differs for each event, endpoint and job, and has the time of the job', () => {
    fc.assert(
      fc.property(idsOf('evt'), idsOf('whk'), times, times, (event, endpoint, time, otherTime) => {
        const id = deriveJobDeliveryId(event, endpoint, time);
        expect(DeliveryId.parse(id)).toBe(id);
        expect(parseCreationTime(id)).toEqual(time);
        expect(deriveJobDeliveryId(event, endpoint, new Date(time))).toBe(id);
        const others = [
          deriveDeliveryId(event, endpoint),
          deriveJobDeliveryId(newId('evt', time), endpoint, time),
          deriveJobDeliveryId(event, newId('whk', time), time),
          ...(time.getTime() === otherTime.getTime()
            ? []
            : [deriveJobDeliveryId(event, endpoint, otherTime)]),
        ];
        expect(others).not.toContain(id);
      }),
    );
  });

  it('does not repeat its last bits in its first ones, which would weaken it', () => {
    const repeated = Array.from({ length: 200 }, () => {
      const bits = BigInt(`0x${deriveDeliveryId(newId('evt', NOW), newId('whk', NOW)).slice('dlv_'.length)}`);
      const field = (from: bigint, width: bigint) => (bits >> from) & ((1n << width) - 1n);
      // RFC 9562, 5.7: a sequence number takes the 12 bits before the variant and the 20 bits after it.
      const leading = (field(64n, 12n) << 20n) | field(42n, 20n);
      return leading === field(1n, 31n);
    });
    expect(repeated).not.toContain(true);
  });
});

const ROOT = '1-5759e988-bd862e3fe1be46a994272793';

describe('trace of an API call', () => {
  it.each([
    `Root=${ROOT}`,
    `Root=${ROOT};Parent=53995c3f42cd8ad8;Sampled=1`,
    `Self=1-67891234-12456789abcdef012345678;Root=${ROOT};CalledFrom=app`,
    `Sampled=0; Root=${ROOT} ; Parent=53995c3f42cd8ad8`,
  ])('is the root of %s', (header) => {
    expect(parseTraceId(header, 'request-1')).toBe(ROOT);
  });

  it.each([
    undefined,
    '',
    'Root=',
    'Root=canary',
    `Root=${ROOT}0`,
    `MyRoot=${ROOT}`,
    `Root=${ROOT.toUpperCase()}`,
  ])("is its request's id when the header is %s", (header) => {
    expect(parseTraceId(header, 'request-1')).toBe('request-1');
  });

  it('is never chosen by the caller, for any header', () => {
    fc.assert(
      fc.property(fc.string(), (header) => {
        expect(parseTraceId(header, 'request-1')).toMatch(/^(request-1|1-[0-9a-f]{8}-[0-9a-f]{24})$/);
      }),
    );
  });
});
