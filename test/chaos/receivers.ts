import { type Receiver, startReceiver } from '../../packages/cli/src/receiver/receiver.ts';
import type { LocalRun } from '../support/local-run.ts';

/** The requests of one delivery to a receiver. */
export interface Receipt {
  messageId: string;
  /** All requests, and those that were answered with a success. */
  requests: number;
  accepted: number;
}

/** A receiver that fails sometimes, and records all requests. */
export interface FailingReceiver {
  url: string;
  /** By delivery. */
  receipts: Map<string, Receipt>;
  /** Organizations of the received events. */
  senders: Set<string>;
  requests(): number;
  stop(): Promise<void>;
}

/** @param failing share of the requests that are answered with 500 or not at all */
export async function startFailingReceiver(tls: LocalRun['tls'], failing: number): Promise<FailingReceiver> {
  const receipts = new Map<string, Receipt>();
  const senders = new Set<string>();
  const receiver: Receiver = await startReceiver({
    ...tls,
    respond({ headers, body }) {
      const delivery = headers['webhook-delivery-id'] ?? '';
      const fails = Math.random() < failing;
      const { orgId, data } = JSON.parse(body.toString());
      senders.add(orgId);
      const receipt = receipts.get(delivery) ?? { messageId: data.messageId, requests: 0, accepted: 0 };
      receipts.set(delivery, {
        ...receipt,
        requests: receipt.requests + 1,
        accepted: receipt.accepted + (fails ? 0 : 1),
      });
      return { status: fails ? 500 : 204 };
    },
  });
  return {
    url: receiver.url,
    receipts,
    senders,
    requests: () => [...receipts.values()].reduce((sum, { requests }) => sum + requests, 0),
    stop: () => receiver.stop(),
  };
}
