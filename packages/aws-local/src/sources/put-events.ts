import { randomUUID } from 'node:crypto';
import * as z from 'zod';
import { ACCOUNT, DEFAULT_BUS, REGION } from '../arns.ts';

/** EventBridge's limit on a request (API reference, PutEvents). */
const MAX_ENTRIES = 10;
export const PUT_EVENTS_LIMIT_BYTES = 262_144;
/** Size of an entry's time in bytes. */
const TIME_BYTES = 14;

const Entry = z.object({
  EventBusName: z.string().default(DEFAULT_BUS),
  Source: z.string().optional(),
  DetailType: z.string().optional(),
  Detail: z.string().optional(),
  /** Epoch seconds. */
  Time: z.number().optional(),
  Resources: z.array(z.string()).default([]),
});
type Entry = z.output<typeof Entry>;
const Request = z.object({ Entries: z.array(Entry) });

/** An event for rules and targets. */
export interface BusEvent {
  version: '0';
  id: string;
  'detail-type': string;
  source: string;
  account: string;
  /** In whole seconds: `2026-11-21T13:27:44Z`. */
  time: string;
  region: string;
  resources: string[];
  detail: Record<string, unknown>;
}

/** Result of an entry: the event's id, or an error. */
export type EntryAnswer = { EventId: string } | { ErrorCode: string; ErrorMessage: string };

export type PutEntry = { bus: string; event: BusEvent } | { refusal: EntryAnswer };

/**
 * Parses the entries of a request: each is an event or an error, unless the whole request is rejected.
 * @param limitBytes of the request; AWS's pages say 256 KB, or 1 MB since January 2026
 */
export function readEntries(
  body: unknown,
  now: Date,
  limitBytes = PUT_EVENTS_LIMIT_BYTES,
): PutEntry[] | { refusal: string } {
  const request = Request.safeParse(body);
  if (!request.success) return { refusal: z.prettifyError(request.error) };
  const { Entries } = request.data;
  if (Entries.length < 1 || Entries.length > MAX_ENTRIES)
    return { refusal: `Entries must have 1 to ${MAX_ENTRIES} members, not ${Entries.length}` };
  if (Entries.map(entrySize).reduce((sum, size) => sum + size) > limitBytes)
    return { refusal: 'Total size of the entries in the request is over the limit.' };
  return Entries.map((entry) => readEntry(entry, now));
}

/** Bytes, as EventBridge counts them (User Guide, Calculating PutEvents event entry size). */
export function entrySize(
  entry: {
    [Name in 'Source' | 'DetailType' | 'Detail']?: string | undefined;
  } & { Time?: unknown; Resources?: readonly string[] | undefined },
): number {
  const { Source = '', DetailType = '', Detail = '', Time, Resources = [] } = entry;
  const texts = [Source, DetailType, Detail, ...Resources];
  const sizes = texts.map((text) => Buffer.byteLength(text));
  return sizes.reduce((sum, size) => sum + size, Time === undefined ? 0 : TIME_BYTES);
}

function readEntry(entry: Entry, now: Date): PutEntry {
  const { EventBusName, Source, DetailType, Detail, Time, Resources } = entry;
  if (!Source) return rejectMissing('Source');
  if (!DetailType) return rejectMissing('DetailType');
  if (!Detail) return rejectMissing('Detail');
  const detail = parseObject(Detail);
  if (detail === undefined)
    return { refusal: { ErrorCode: 'MalformedDetail', ErrorMessage: 'Detail is malformed.' } };
  return {
    // A bus may be named by its ARN.
    bus: EventBusName.slice(EventBusName.lastIndexOf('/') + 1),
    event: {
      version: '0',
      id: randomUUID(),
      'detail-type': DetailType,
      source: Source,
      account: ACCOUNT,
      time: wholeSeconds(Time === undefined ? now : new Date(Time * 1000)),
      region: REGION,
      resources: Resources,
      detail,
    },
  };
}

const rejectMissing = (parameter: string): PutEntry => ({
  refusal: {
    ErrorCode: 'InvalidArgument',
    ErrorMessage: `Parameter ${parameter} is not valid. Reason: ${parameter} is a required argument.`,
  },
});

const wholeSeconds = (time: Date) => time.toISOString().replace(/\.\d+Z$/, 'Z');

function parseObject(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    const parsed = z.record(z.string(), z.unknown()).safeParse(value);
    return parsed.success ? parsed.data : undefined;
  } catch {
    return undefined;
  }
}
