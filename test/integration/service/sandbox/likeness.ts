import { expect } from 'vitest';
import type { Exchange } from '../../../support/exchange.ts';
import type { Received } from './programmed-receiver.ts';
import type { Entry } from './transcript.ts';

/** An answer without what differs between any two runs of the same calls. */
export interface Likeness {
  call: string;
  status: number;
  headers: Record<string, string>;
  body: unknown;
}

/** A request to a receiver, without what differs between any two runs. */
export interface RequestLikeness {
  method: 'POST';
  url: string;
  headers: Record<string, string>;
  body: string;
}

/**
 * Replaces identifiers, times and secrets of one transcript by placeholders; equal values get the same one.
 */
export interface Forgetful {
  answer(entry: Entry): Likeness;
  request(received: Received, receiver: string): RequestLikeness;
}

/** Headers whose values differ between runs. */
const FORGOTTEN: Readonly<Record<string, string>> = {
  requestId: '<request>',
  nextCursor: '<cursor>',
  followCursor: '<cursor>',
  durationMs: '<milliseconds>',
  p50Ms: '<milliseconds>',
  p95Ms: '<milliseconds>',
  date: '<time>',
  'request-id': '<request>',
  'webhook-timestamp': '<seconds>',
  'webhook-signature': '<signature>',
};
/** They concern the connection, or are checked against the body at once. */
const LEFT_OUT = new Set(['connection', 'keep-alive']);

export function forgetful(): Forgetful {
  const numbers = new Map<string, string>();

  function text(value: string): string {
    return value
      .replaceAll(/\b([a-z]{3})_[0-9a-f]{32}\b/g, (id, kind: string) => {
        const number = [...numbers.values()].filter((name) => name.startsWith(kind)).length + 1;
        if (!numbers.has(id)) numbers.set(id, `${kind} ${number}`);
        return numbers.get(id) ?? '';
      })
      .replaceAll(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g, '<time>')
      .replaceAll(/\bwhsec_[\w+/]{43}=/g, '<secret>')
      .replace(/^("\w+");r=\d+;t=\d+$/, '$1;r=<left>;t=<seconds>');
  }

  function forget(value: unknown, name = ''): unknown {
    if (value !== null && Object.hasOwn(FORGOTTEN, name)) return FORGOTTEN[name];
    if (typeof value === 'string') return text(value);
    if (Array.isArray(value)) return value.map((item) => forget(item));
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, forget(item, key)]));
  }

  const normalizeHeaders = (headers: object): Record<string, string> => {
    const kept = Object.entries(headers).filter(([name]) => !LEFT_OUT.has(name));
    return forget(Object.fromEntries(kept)) as Record<string, string>;
  };

  return {
    answer: ({ call, exchange }) => ({
      call: text(call).replace(/(?<=&cursor=)\S+/, '<cursor>'),
      status: exchange.status,
      headers: normalizeHeaders(withoutLength(exchange)),
      body: exchange.text === '' ? '' : forget(mergeHours(JSON.parse(exchange.text))),
    }),
    request: ({ target, headers, body }, receiver) => ({
      method: 'POST',
      url: text(receiver + target),
      headers: normalizeHeaders(headers),
      body: text(body),
    }),
  };
}

/** The number of digits of a duration is not compared. */
function withoutLength({ headers, text, status }: Exchange): object {
  const { 'content-length': length, ...others } = headers;
  expect(length).toBe(status === 204 ? undefined : String(Buffer.byteLength(text)));
  return others;
}

/** Adds up the statistics of several hours, because the hour may change at any moment. */
function mergeHours(body: { data?: { hours?: Record<string, unknown>[] } }): unknown {
  const hours = body.data?.hours;
  if (hours === undefined || hours.length < 2) return body;
  const sum: Record<string, unknown> = { ...hours[0] };
  for (const hour of hours.slice(1))
    for (const [name, count] of Object.entries(hour))
      if (typeof count === 'number') sum[name] = Number(sum[name]) + count;
  return { ...body, data: { ...body.data, hours: [sum] } };
}
