import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Connection, Exchange, Sent } from '../../../support/exchange.ts';

/** The caller: with the keys of a live organization, or with those of its sandbox. */
export interface Actor {
  connection: Connection;
  /** A key with all scopes. */
  key: string;
  /** A key that can only read conversations. */
  narrow: string;
  revoked: string;
}

/** The parts of a call besides its method and path. */
interface Call {
  /** Serialized as JSON unless it is a string. */
  body?: unknown;
  /** Idempotency key; a new one when absent, none when null. */
  once?: string | null;
  /** By default the actor's; null sends none. */
  credential?: string | null;
  type?: string;
}

export interface Entry {
  /** Method and path, as a label of the entry. */
  call: string;
  exchange: Exchange;
}

/** The `data` of an answer: tests assert its fields. */
export type Data = Record<string, unknown>;

/** Makes the calls of a script one after the other, and records the answers. */
export interface Teller {
  entries: readonly Entry[];
  /** Makes a call and records it. */
  tell(method: string, path: string, call?: Call): Promise<Data>;
  /** Makes a call without recording it, to poll. */
  look(path: string): Promise<Data>;
}

/** Waits between tries of a call while the service is busy. */
const BUSY_MS = [100, 300, 1000, 3000];

export function teller({ connection, key }: Actor): Teller {
  const entries: Entry[] = [];

  /** A busy machine must not make a difference. */
  async function patiently(sent: Sent): Promise<Exchange> {
    for (const wait of BUSY_MS) {
      const exchange = await connection.send(sent);
      if (exchange.status !== 503) return exchange;
      await sleep(wait);
    }
    return connection.send(sent);
  }

  function send(method: string, path: string, call: Call): Promise<Exchange> {
    const { body, credential = key, once, type = 'application/json' } = call;
    const idempotencyKey = once === undefined && method === 'POST' ? randomUUID() : once;
    const headers: [string, string][] = [];
    if (credential !== null) headers.push(['authorization', `Bearer ${credential}`]);
    if (idempotencyKey) headers.push(['idempotency-key', idempotencyKey]);
    if (body !== undefined) headers.push(['content-type', type]);
    const text = typeof body === 'string' || body === undefined ? body : JSON.stringify(body);
    return patiently({
      method,
      target: `/api${path}`,
      headers,
      ...(text === undefined ? {} : { body: text }),
    });
  }

  return {
    entries,
    async tell(method, path, call = {}) {
      const exchange = await send(method, path, call);
      entries.push({ call: `${entries.length}: ${method} ${path}`, exchange });
      return bodyOf(exchange);
    },
    look: async (path) => bodyOf(await send('GET', path, {})),
  };
}

const bodyOf = ({ text }: Exchange): Data => {
  const { data, ...others } = text === '' ? {} : JSON.parse(text);
  return Array.isArray(data) ? { ...others, items: data } : { ...others, ...data };
};
