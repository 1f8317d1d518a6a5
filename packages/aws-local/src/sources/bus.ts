import type { Engine } from '../engines/engine.ts';
import { failure, type JsonAnswer, startJsonService, success } from '../engines/json-service.ts';
import type { BusRule } from './bus-rules.ts';
import { sendToTarget, type TargetParts } from './bus-targets.ts';
import { type BusEvent, type EntryAnswer, type PutEntry, readEntries } from './put-events.ts';

export interface BusOptions extends TargetParts {
  buses: readonly string[];
  rules: readonly BusRule[];
  /** Limit on a request; default: 256 KB. */
  requestBytes?: number;
}

/**
 * Starts an EventBridge with `PutEvents`. It stores nothing: an entry is answered once it is in every target
 * queue, so that answered entries survive the end of the run.
 */
export const startBus = (options: BusOptions): Promise<Engine> =>
  startJsonService(({ target, body }) =>
    target === 'AWSEvents.PutEvents'
      ? putEvents(body, options)
      : failure('InvalidAction', `The local EventBridge does not know ${target}`),
  );

async function putEvents(body: unknown, options: BusOptions): Promise<JsonAnswer> {
  const read = readEntries(body, new Date(), options.requestBytes);
  if ('refusal' in read) return failure('ValidationException', read.refusal);
  const entries = read.map((entry) => onKnownBus(entry, options.buses));
  const lost = await deliver(entries, options);
  const answers = entries.map((entry): EntryAnswer => {
    if ('refusal' in entry) return entry.refusal;
    const { event } = entry;
    if (!lost.has(event)) return { EventId: event.id };
    return { ErrorCode: 'InternalFailure', ErrorMessage: 'A target did not take the event.' };
  });
  const failed = answers.filter((answer) => 'ErrorCode' in answer);
  return success({ FailedEntryCount: failed.length, Entries: answers });
}

/** An unknown name is a bug in the template or the function. */
function onKnownBus(entry: PutEntry, buses: readonly string[]): PutEntry {
  if ('refusal' in entry || buses.includes(entry.bus)) return entry;
  const ErrorMessage = `Event bus ${entry.bus} does not exist.`;
  return { refusal: { ErrorCode: 'ResourceNotFoundException', ErrorMessage } };
}

/**
 * Sends each event to the targets of matching rules.
 * @returns the events that did not reach every target
 */
async function deliver(entries: readonly PutEntry[], options: BusOptions): Promise<Set<BusEvent>> {
  const deliveries = options.rules.flatMap((rule) => {
    const events = entries.flatMap((entry) =>
      'event' in entry && entry.bus === rule.bus && rule.matches(entry.event) ? entry.event : [],
    );
    if (events.length === 0) return [];
    return rule.targets.map((target) => sendToTarget(events, rule, target, options));
  });
  return new Set((await Promise.all(deliveries)).flat());
}
