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
}

export interface ReceiverTerms {
  /** PEM. */
  cert: string;
  /** PEM. */
  key: string;
  /** Until it answers. */
  latencyMs: number;
}

/** Receivers in another process of this machine. */
export interface Receivers {
  /** URL of one of them. */
  url(path: string): string;
  stop(): Promise<void>;
}

/** @param onReceipt called for each delivery, some milliseconds later */
export async function startReceivers(
  terms: ReceiverTerms,
  onReceipt: (receipt: Receipt) => void,
): Promise<Receivers> {
  const child = fork(join(import.meta.dirname, 'receiver-process.ts'), { execArgv: [] });
  const exited = once(child, 'exit');
  child.send(terms);
  const [{ port }] = await once(child, 'message');
  child.on('message', ({ receipts = [] }: { receipts?: Receipt[] }) => {
    for (const receipt of receipts) onReceipt(receipt);
  });
  return {
    url: (path) => `https://localhost:${port}${path}`,
    async stop() {
      if (child.connected) child.disconnect();
      await exited;
    },
  };
}
