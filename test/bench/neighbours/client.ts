import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

/** An API call. */
export interface PlannedCall {
  /** API key; empty for a call without credentials. */
  key: string;
  method: string;
  path: string;
  headers?: Record<string, string>;
  body?: unknown;
}

/** The result of a call. Times are milliseconds since the epoch. */
export interface Answered {
  /** When it should have been sent. */
  intendedAt: number;
  answeredAt: number;
  /** 0 when the connection failed. */
  status: number;
  /** Of the resource in the answer. */
  id?: string;
}

/** A check of a source that was requested. */
export interface SettledCheck {
  ms: number;
  /**
   * False when the request was refused, or the check had not settled when the client gave up: `ms` is then a
   * lower bound.
   */
  isSettled: boolean;
}

/** The jobs of a client process, until it is done or stopped. All are open loops: sent by the clock. */
export type Job =
  /** Makes the calls in turn. Without a count it continues until it is stopped. */
  | { kind: 'calls'; calls: readonly PlannedCall[]; perSecond: number; count?: number }
  /** Requests a check of each source in turn and waits until it settles. */
  | {
      kind: 'checks';
      sources: readonly { key: string; id: string; path: string }[];
      perSecond: number;
      count: number;
    }
  /** Creates a source, requests a second check of it and deletes it, until it is stopped. */
  | { kind: 'changes'; key: string; pages: string; perSecond: number };

export interface JobResults {
  calls: Answered[];
  checks: SettledCheck[];
  /** Accepted calls and others. */
  changes: { accepted: number; refused: number };
}

export type ClientMessage =
  | { kind: 'start'; baseUrl: string; tls: { cert: string; key: string } }
  | { kind: 'job'; job: Job }
  | { kind: 'stop' };

/** A job in progress. */
interface RunningJob<Kind extends Job['kind']> {
  /** Ends a job that has no count. */
  stop(): void;
  result: Promise<JobResults[Kind]>;
}

/** A client of the API in another process. It does one job at a time. */
export interface Client {
  /** URL of a page of this process that does not change. */
  pageUrl(path: string): string;
  start<J extends Job>(job: J): RunningJob<J['kind']>;
  close(): Promise<void>;
}

/** @param service its URL and its certificate */
export async function startClient(service: {
  url: string;
  tls: { cert: string; key: string };
}): Promise<Client> {
  const child = fork(join(import.meta.dirname, 'client-process.ts'), { execArgv: [] });
  const exited = once(child, 'exit');
  const send = (message: ClientMessage) => child.send(message);
  const { cert, key } = service.tls;
  send({ kind: 'start', baseUrl: service.url, tls: { cert, key } });
  const [{ port }] = await once(child, 'message');
  return {
    pageUrl: (path) => `https://localhost:${port}${path}`,
    start(job) {
      const answered = once(child, 'message');
      send({ kind: 'job', job });
      const ended = exited.then(() => Promise.reject(new Error('a client process ended before its job')));
      return {
        stop: () => void send({ kind: 'stop' }),
        result: Promise.race([answered.then(([result]) => result), ended]),
      };
    },
    async close() {
      if (child.connected) child.disconnect();
      await exited;
    },
  };
}
