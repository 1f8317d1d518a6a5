import { until } from 'aws-local/test/until.ts';
import { apiClient } from '../../support/api.ts';
import { wallClock } from './open-loop.ts';
import { type Receipt, startReceivers } from './receivers.ts';

/** A message whose event goes to all endpoints. */
interface ExpectedMessage {
  /** When the first delivery arrived, by path. */
  receipts: Map<string, Receipt>;
  duplicates: number;
  isAccepted: boolean;
  onComplete?: () => void;
}

/** Messages of one conversation and their deliveries: every message is expected at every receiver. */
export interface Traffic {
  /** Records a message. @returns its id, or undefined when it was refused */
  post(onComplete?: () => void): Promise<string | undefined>;
  /** Receipts of a message, by path. */
  receiptsOf(id: string): readonly Receipt[];
  /** Called for the first delivery of each message at each endpoint. */
  onDelivery: (receipt: Receipt) => void;
  /**
   * Waits until all accepted messages have arrived.
   * @returns those that have not, after some time without any receipt
   */
  settled(): Promise<{ refused: number; missing: number; duplicates: number }>;
  /** Deletes the endpoints. */
  end(): Promise<void>;
}

/** After this time without a receipt, missing messages count as lost: longer than a retry waits. */
const SILENCE_MS = 60_000;

/** Registers endpoints of one organization and starts a conversation. */
export async function startTraffic(
  run: { tls: { cert: string; key: string }; environment: { BASE_URL: string; API_KEY: string } },
  {
    fanOut,
    bodyBytes,
    latencyMs,
    connections,
  }: { fanOut: number; bodyBytes: number; latencyMs: number; connections: number },
): Promise<Traffic> {
  const messages = new Map<string, ExpectedMessage>();
  const findExpected = (id: string): ExpectedMessage => {
    const cached = messages.get(id) ?? { receipts: new Map(), duplicates: 0, isAccepted: false };
    messages.set(id, cached);
    return cached;
  };
  let [refused, lastAt] = [0, wallClock()];
  const complete = (expected: ExpectedMessage) => {
    if (expected.isAccepted && expected.receipts.size === fanOut) expected.onComplete?.();
  };
  const receivers = await startReceivers({ ...run.tls, latencyMs }, (receipt) => {
    lastAt = wallClock();
    const expected = findExpected(receipt.id);
    if (expected.receipts.has(receipt.path)) expected.duplicates += 1;
    else {
      expected.receipts.set(receipt.path, receipt);
      traffic.onDelivery(receipt);
      complete(expected);
    }
  });
  const api = apiClient(run.environment, connections);
  const endpoints: string[] = [];
  for (let number = 0; number < fanOut; number += 1)
    endpoints.push((await api.register(receivers.url(`/${number}`), ['message.received'])).id);
  const path = `/api/v1/conversations/${await api.createConversation()}/messages`;
  const content = 'm'.repeat(bodyBytes);
  const traffic: Traffic = {
    onDelivery: () => undefined,
    async post(onComplete) {
      const answer = await api
        .call({ method: 'POST', path, body: { role: 'user', content } })
        .catch(() => undefined);
      if (answer?.status !== 201) {
        refused += 1;
        return undefined;
      }
      const id = String(answer.body.data?.id);
      const expected = findExpected(id);
      Object.assign(expected, { isAccepted: true, onComplete });
      complete(expected);
      return id;
    },
    receiptsOf: (id) => [...(messages.get(id)?.receipts.values() ?? [])],
    async settled() {
      const open = () =>
        [...messages.values()].filter(({ isAccepted, receipts }) => isAccepted && receipts.size < fanOut);
      lastAt = wallClock();
      await until('the rest', () => open().length === 0 || wallClock() - lastAt > SILENCE_MS, 600_000);
      const all = [...messages.values()];
      return {
        refused,
        missing: open().reduce((sum, { receipts }) => sum + fanOut - receipts.size, 0),
        duplicates: all.reduce((sum, expected) => sum + expected.duplicates, 0),
      };
    },
    async end() {
      for (const id of endpoints) await api.call({ method: 'DELETE', path: `/api/v1/webhooks/${id}` });
      api.close();
      await receivers.stop();
    },
  };
  return traffic;
}

/**
 * Posts over some lanes until it is stopped, each message when few others are in progress to their receivers:
 * messages are accepted and delivered at the same rate, without a growing backlog.
 * @returns stops it, and settles when the last was answered
 */
export function holdLoad(
  traffic: Pick<Traffic, 'post'>,
  { lanes, underWay }: { lanes: number; underWay: number },
): { stop(): Promise<void> } {
  let isStopped = false;
  let open = 0;
  const waiting: (() => void)[] = [];
  const done = () => {
    open -= 1;
    waiting.shift()?.();
  };
  const lane = async () => {
    while (!isStopped) {
      if (open >= underWay) {
        await new Promise<void>((resolve) => waiting.push(resolve));
        continue;
      }
      open += 1;
      if ((await traffic.post(done)) === undefined) done();
    }
  };
  const ended = Promise.all(Array.from({ length: lanes }, lane));
  return {
    async stop() {
      isStopped = true;
      for (const resume of waiting.splice(0)) resume();
      await ended;
    },
  };
}
