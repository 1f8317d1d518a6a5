import 'aws-sdk-client-mock-vitest/extend';
import { EventBridgeClient, PutEventsCommand, type PutEventsRequestEntry } from '@aws-sdk/client-eventbridge';
import { entrySize, PUT_EVENTS_LIMIT_BYTES } from 'aws-local/sources/put-events.ts';
import { mockClient } from 'aws-sdk-client-mock';
import fc from 'fast-check';
import { beforeEach, describe, expect, it } from 'vitest';
import type { LogCode } from '../../../functions/aws/log-codes.ts';
import { BUS_SOURCE, BusEvent } from '../../../functions/events/bus.ts';
import { eventBus } from '../../../functions/events/event-bus.ts';
import { aBusEvent } from '../../builders.ts';
import { recordedLog } from '../../doubles/recorded-log.ts';

const eventBridge = mockClient(EventBridgeClient);
const log = recordedLog();
const bus = eventBus(new EventBridgeClient({}), 'bus', log);

const listLogged = (wanted: LogCode) =>
  log.entries.filter(({ code }) => code === wanted).map(({ fields }) => fields);
const listRefusals = () => listLogged('BUS_REFUSED');
const listGivenUp = () =>
  listLogged('BUS_ENTRY_GIVEN_UP').map(({ id, bytes }) => ({ id: String(id), bytes: Number(bytes) }));

const someEvents = (count: number) => Array.from({ length: count }, () => aBusEvent());
const eventIn = ({ Detail = '' }: PutEventsRequestEntry) => BusEvent.parse(JSON.parse(Detail));
/** The entries of each request. */
const requests = () =>
  eventBridge.commandCalls(PutEventsCommand).map(({ args: [{ input }] }) => input.Entries ?? []);

/** Accepts entries, except those that `refuses` names. */
const taking = (refuses: (event: BusEvent) => boolean) =>
  eventBridge.on(PutEventsCommand).callsFake(({ Entries }: { Entries: PutEventsRequestEntry[] }) => ({
    Entries: Entries.map((entry) =>
      refuses(eventIn(entry)) ? { ErrorCode: 'ThrottlingException' } : { EventId: 'taken' },
    ),
  }));

beforeEach(() => {
  eventBridge.reset();
  log.entries.length = 0;
  taking(() => false);
});

describe('the event bus client', () => {
  it('puts an event with its type as detail type, and its time', async () => {
    const event = aBusEvent();

    expect(await bus.put([event])).toEqual([]);

    const [[entry] = []] = requests();
    expect(entry).toMatchObject({
      EventBusName: 'bus',
      Source: BUS_SOURCE,
      DetailType: event.type,
      Time: new Date(event.createdAt),
    });
    expect(eventIn(entry ?? {})).toEqual(event);
  });

  it('returns the entries that a request refused, and logs each reason once', async () => {
    const events = someEvents(12);
    const refused = new Set([events[3], events[7], events[11]].map((event) => event?.id));
    taking(({ id }) => refused.has(id));

    expect(await bus.put(events)).toEqual(events.filter(({ id }) => refused.has(id)));

    expect(listRefusals()).toEqual([{ reason: 'ThrottlingException' }, { reason: 'ThrottlingException' }]);
  });

  it.each([{}, { Entries: [] }, { Entries: [{ EventId: 'taken' }] }])(
    'counts an entry as accepted only when the answer says so: %j',
    async (answer) => {
      const events = someEvents(2);
      eventBridge.on(PutEventsCommand).resolves(answer);

      expect(await bus.put(events)).toEqual(events.slice(answer.Entries?.length ?? 0));
    },
  );

  it('accepts or returns every event, never both', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.constantFrom('taken', 'refused'), { maxLength: 45 }),
        fc.array(fc.boolean(), { minLength: 5, maxLength: 5 }),
        async (fates, failing) => {
          eventBridge.reset();
          const events = fates.map(() => aBusEvent());
          const taken = new Set<string>();
          let request = 0;
          eventBridge.on(PutEventsCommand).callsFake(({ Entries }: { Entries: PutEventsRequestEntry[] }) => {
            if (failing[request++]) throw new Error('out of reach');
            return {
              Entries: Entries.map((entry) => {
                const { id } = eventIn(entry);
                if (fates[events.findIndex((event) => event.id === id)] === 'refused')
                  return { ErrorCode: 'InternalFailure' };
                taken.add(id);
                return { EventId: id };
              }),
            };
          });

          const back = (await bus.put(events)).map(({ id }) => id);

          expect([...taken, ...back].sort()).toEqual(events.map(({ id }) => id).sort());
          expect(back.filter((id) => taken.has(id))).toEqual([]);
        },
      ),
    );
  });
});

/** EventBridge's refusal of a request that is too large. */
const TOO_LARGE = Object.assign(new Error('Total size of the entries in the request is over the limit.'), {
  name: 'ValidationException',
  $metadata: { httpStatusCode: 400 },
});

describe('the size of requests to the event bus', () => {
  const anEventOf = (bytes: number) => aBusEvent({ data: { text: 'x'.repeat(bytes) } });
  const requestSize = (entries: readonly PutEventsRequestEntry[]) =>
    entries.reduce((sum, entry) => sum + entrySize(entry), 0);

  /** Refuses a request, as EventBridge does, when its entries together exceed the limit. */
  const refusingOver = (limit: number) =>
    eventBridge.on(PutEventsCommand).callsFake(({ Entries }: { Entries: PutEventsRequestEntry[] }) => {
      if (requestSize(Entries) > limit) throw TOO_LARGE;
      return { Entries: Entries.map(() => ({ EventId: 'taken' })) };
    });
  const taken = () =>
    requests()
      .filter((entries) => requestSize(entries) <= PUT_EVENTS_LIMIT_BYTES)
      .flat()
      .map((entry) => eventIn(entry).id);

  it('stays below the limit, however large the entries are together', async () => {
    refusingOver(PUT_EVENTS_LIMIT_BYTES);
    const events = Array.from({ length: 10 }, () => anEventOf(60_000));

    expect(await bus.put(events)).toEqual([]);

    expect(listRefusals()).toEqual([]);
    expect(Math.max(...requests().map(requestSize))).toBeLessThanOrEqual(200 * 1024);
  });

  it.each([
    ['the first', 0],
    ['one in the middle', 4],
    ['the last', 9],
  ])('drops an entry that is refused alone, %s of ten, and puts the others', async (_, place) => {
    refusingOver(PUT_EVENTS_LIMIT_BYTES);
    const events = Array.from({ length: 10 }, (_none, index) => anEventOf(index === place ? 300_000 : 10));

    expect(await bus.put(events)).toEqual([]);

    expect(listGivenUp()).toEqual([{ id: events[place]?.id, bytes: expect.closeTo(300_300, -3) }]);
    expect(taken().sort()).toEqual(events.flatMap(({ id }, index) => (index === place ? [] : id)).sort());
  });

  it('is halved after a refusal, so that a limit below the documented one loses no entry', async () => {
    refusingOver(30_000);
    const events = Array.from({ length: 10 }, () => anEventOf(14_000));

    expect(await bus.put(events)).toEqual([]);

    expect(listGivenUp()).toEqual([]);
  });

  it.each([['ThrottlingException'], ['AccessDeniedException'], ['InternalException'], ['TimeoutError']])(
    'drops nothing on %s, which the entry did not cause',
    async (name) => {
      eventBridge.on(PutEventsCommand).rejects(Object.assign(new Error('no'), { name }));
      const events = someEvents(3);

      expect(await bus.put(events)).toEqual(events);

      expect(requests()).toHaveLength(1);
      expect(listGivenUp()).toEqual([]);
    },
  );

  it('lets every event be accepted, returned or dropped, at any size', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.constantFrom(10, 30_000, 120_000, 210_000, 262_000, 400_000), { maxLength: 25 }),
        async (sizes) => {
          eventBridge.reset();
          log.entries.length = 0;
          refusingOver(PUT_EVENTS_LIMIT_BYTES);
          const events = sizes.map(anEventOf);

          expect(await bus.put(events)).toEqual([]);

          expect([...taken(), ...listGivenUp().map(({ id }) => id)].sort()).toEqual(
            events.map(({ id }) => id).sort(),
          );
          expect(listGivenUp().every(({ bytes }) => bytes > PUT_EVENTS_LIMIT_BYTES)).toBe(true);
        },
      ),
      { numRuns: 30 },
    );
  });
});
