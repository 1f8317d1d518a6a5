import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Connection, Exchange, Sent } from '../../../support/exchange.ts';

/** Who calls: with the keys of a live organization, or with those of its sandbox. */
export interface Actor {
  connection: Connection;
  /** May do everything that keys can. */
  key: string;
  /** May read conversations and nothing else. */
  narrow: string;
  revoked: string;
}

/** What a call says besides its method and path. */
interface Call {
  /** Serialised as JSON unless it is a string. */
  body?: unknown;
  /** Idempotency key; a new one when absent, none when null. */
  once?: string | null;
  /** Of the actor's by default; null sends none. */
  credential?: string | null;
  type?: string;
}

export interface Entry {
  /** Method and path, to tell entries apart for people. */
  call: string;
  exchange: Exchange;
}

/** The `data` of an answer: tests assert what they find. */
export type Data = Record<string, unknown>;

/** Makes the calls of a script one after the other, and keeps what was answered. */
export interface Teller {
  entries: readonly Entry[];
  /** Makes a call for the record. */
  tell(method: string, path: string, call?: Call): Promise<Data>;
  /** Makes a call that only looks whether it is time to go on. */
  look(path: string): Promise<Data>;
}

/** Waits between tries of a call that the service is too busy for. */
const BUSY_MS = [100, 300, 1000, 3000];

export function teller({ connection, key }: Actor): Teller {
  const entries: Entry[] = [];

  /** How busy the machine is makes no difference. */
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
