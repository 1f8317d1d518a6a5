import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

/** A delivery as received. Times are milliseconds since the epoch. */
export interface Receipt {
  path: string;
  /** Of the message or the conversation of the event. */
  id: string;
  receivedAt: number;
  /** Of the event. */
  committedAt: number;
  /** False for a first attempt that was answered 503. */
  isAccepted: boolean;
}

export interface ReceiverTerms {
  /** PEM. */
  cert: string;
  /** PEM. */
  key: string;
  /** Until it answers. */
  latencyMs: number;
  /** Reports no receipts. */
  isSilent: boolean;
  /** Answers 503 to the first attempt of each delivery. */
  refusesFirst: boolean;
}

/** Changed options from now on. */
export interface ReceiverChange {
  latencyMs?: number;
  doClose?: boolean;
}

/** Receivers in another process of this machine. */
export interface Receivers {
  pid: number;
  /** URL of one of them. */
  url(path: string): string;
  /** Sets the latency of all of them from now on. */
  answerAfter(latencyMs: number): void;
  /** Sets whether they close a connection after their answer, from now on. */
  closeConnections(doClose: boolean): void;
  stop(): Promise<void>;
}

/** @param onReceipt called for each delivery, some milliseconds later */
export async function startReceivers(
  { cert, key }: { cert: string; key: string },
  onReceipt?: (receipt: Receipt) => void,
  { refusesFirst = false }: Partial<Pick<ReceiverTerms, 'refusesFirst'>> = {},
): Promise<Receivers> {
  const child = fork(join(import.meta.dirname, 'receiver-process.ts'), { execArgv: [] });
  const exited = once(child, 'exit');
  const isSilent = onReceipt === undefined;
  child.send({ cert, key, latencyMs: 0, isSilent, refusesFirst } satisfies ReceiverTerms);
  const [{ port }] = await once(child, 'message');
  child.on('message', ({ receipts = [] }: { receipts?: Receipt[] }) => {
    for (const receipt of receipts) onReceipt?.(receipt);
  });
  return {
    pid: child.pid ?? 0,
    url: (path) => `https://localhost:${port}${path}`,
    answerAfter: (latencyMs) => child.send({ latencyMs } satisfies ReceiverChange),
    closeConnections: (doClose) => child.send({ doClose } satisfies ReceiverChange),
    async stop() {
      if (child.connected) child.disconnect();
      await exited;
    },
  };
}
