import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

/** A delivery as it came. Times are milliseconds since the epoch. */
export interface Receipt {
  path: string;
  /** Of the message or the conversation that the event tells of. */
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
  /** Tells nothing of what comes. */
  isSilent: boolean;
  /** Answers 503 to the first attempt of each delivery. */
  refusesFirst: boolean;
}

/** What is different from now on. */
export interface ReceiverChange {
  latencyMs?: number;
  doClose?: boolean;
}

/** Receivers in another process of this machine. */
export interface Receivers {
  pid: number;
  /** Address of one of them. */
  url(path: string): string;
  /** How long all of them take to answer, from now on. */
  answerAfter(latencyMs: number): void;
  /** Whether they close a connection when they have answered, from now on. */
  closeConnections(doClose: boolean): void;
  stop(): Promise<void>;
}

/** @param onReceipt told of each delivery, some milliseconds later */
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
