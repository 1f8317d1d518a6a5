import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { type Delivery, toDeliveryMessage } from '../../../functions/delivery/delivery.ts';
import type { Endpoint } from '../../../functions/receivers/endpoint.ts';
import { keys } from '../../../functions/tenancy/keys.ts';
import { aDelivery, anEndpoint, anEvent } from '../../builders.ts';
import { awsServices, capturedOutput, received, WITH_TIME } from './worker-fixture.ts';

/** Requests that reached the socket, or the simulated receiver in its place. */
let requests = 0;
const OUTBOUND = '../../../functions/delivery/outbound/client.ts';
const SENDER = '../../../functions/delivery/webhook-sender.ts';
beforeAll(() => {
  vi.doMock(OUTBOUND, () => ({
    receiverClient: () => ({
      async post() {
        requests += 1;
        return { kind: 'answered', status: 204, durationMs: 1, body: '' };
      },
    }),
  }));
  vi.doMock(SENDER, async (importOriginal) => {
    const original = await importOriginal<typeof import('../../../functions/delivery/webhook-sender.ts')>();
    const simulatedReceiver: typeof original.simulatedReceiver = (terms) => {
      const receiver = original.simulatedReceiver(terms);
      return {
        async post(...request) {
          requests += 1;
          return receiver.post(...request);
        },
      };
    };
    return { ...original, simulatedReceiver };
  });
});
// Other files share the modules.
afterAll(() => {
  vi.doUnmock(OUTBOUND);
  vi.doUnmock(SENDER);
  vi.resetModules();
});

beforeEach(() => {
  capturedOutput();
  requests = 0;
});

/** The dispatcher function, newly loaded, with one delivery. `fails` chooses the calls to AWS that fail. */
async function aFunction({
  endpoint: changes = {},
  isSandbox = false,
  fails = () => false,
}: {
  endpoint?: Partial<Endpoint>;
  isSandbox?: boolean;
  fails?: (call: number) => boolean;
} = {}) {
  vi.resetModules();
  const { handler } = await import('../../../functions/workers/dispatch.ts');
  const aws = awsServices();
  const tenant = aws.addTenant({}, { isSandbox });
  const endpoint = anEndpoint({ orgId: tenant.orgId, ...changes });
  const event = anEvent({ tenant });
  const delivery = aDelivery({ ...tenant, webhookId: endpoint.id, eventId: event.id });
  const key = keys.delivery(endpoint.id, delivery.generation, delivery.id);
  aws.tables.put('service', { ...keys.endpoint(tenant.orgId, endpoint.id), ...endpoint });
  aws.tables.put('outbox', { ...keys.event(event, event.id), ...event });
  aws.tables.put('deliveries', { ...key, ...delivery });
  aws.throttles = () => fails(aws.calls.length - 1);
  return {
    calls: aws.calls,
    receive: () => handler(received('fresh', toDeliveryMessage(delivery)), WITH_TIME),
    readDelivery: () => aws.get('deliveries', key) as unknown as Delivery,
  };
}

type Setting = Omit<NonNullable<Parameters<typeof aFunction>[0]>, 'fails'>;
const KINDS: [name: string, setting: Setting][] = [
  ['an endpoint', {}],
  ['an endpoint with a limit', { endpoint: { maxPerSecond: 100 } }],
  ['an endpoint that has failed before', { endpoint: { consecutiveFailures: 9 } }],
  ['a simulated receiver', { isSandbox: true }],
];

describe.each(KINDS)('attempt at %s', (_, setting) => {
  it('counts only with a request, whichever call of the function fails', async () => {
    const whole = await aFunction(setting);
    await whole.receive();
    expect(whole.readDelivery()).toMatchObject({ status: 'succeeded', attempts: 1 });
    expect(requests).toBe(1);

    for (const [index, { operation }] of whole.calls.entries()) {
      requests = 0;
      let isFailing = true;
      const { receive, readDelivery } = await aFunction({
        ...setting,
        fails: (call) => isFailing && call === index,
      });
      await receive();
      const { attempts } = readDelivery();
      expect([operation, attempts]).toEqual([operation, requests]);

      isFailing = false;
      if (attempts === 0) await receive();
      if (attempts === 0) expect(readDelivery()).toMatchObject({ status: 'succeeded', attempts: 1 });
    }
  });
});

it('an attempt at an endpoint whose key version is missing does not count, and nothing is sent', async () => {
  const { receive, readDelivery } = await aFunction({ endpoint: { keyVersion: '7' } });
  for (let time = 0; time < 9; time += 1) {
    expect(await receive()).toEqual({ batchItemFailures: [{ itemIdentifier: 'message-1' }] });
    expect(readDelivery()).toMatchObject({ status: 'pending', attempts: 0 });
  }
  expect(requests).toBe(0);
});
