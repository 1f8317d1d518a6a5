import { describe, expect, it } from 'vitest';
import { type DemonstrationOptions, demonstrate } from '../../../lib/local-run/start/demonstration.ts';
import type { ReceivedDelivery } from '../../../packages/cli/src/receiver/receiver.ts';
import { aDelivery } from './received-delivery.ts';

const about = (conversationId: string, changes: Partial<ReceivedDelivery> = {}) =>
  aDelivery({
    body: Buffer.from(JSON.stringify({ type: 'conversation.created', data: { conversationId } })),
    ...changes,
  });

/** A service whose API creates conversation cnv_1 and delivers as `deliver` says. */
function aService(deliver: (receive: (delivery: ReceivedDelivery) => void) => void) {
  const calls: string[] = [];
  let receive: (delivery: ReceivedDelivery) => void = () => undefined;
  let clock = 0;
  const options: DemonstrationOptions = {
    api: {
      registerEndpoint: async (endpoint, idempotencyKey) => {
        calls.push(`register ${endpoint.url} ${endpoint.events} ${idempotencyKey}`);
        return { id: 'whk_1', secret: 'whsec_c2VjcmV0' };
      },
      moveEndpoint: async (id, url) => {
        calls.push(`move ${id} ${url}`);
        return id === 'whk_active';
      },
      createConversation: async () => {
        clock += 40;
        deliver((delivery) => receive(delivery));
        return 'cnv_1';
      },
      deliveriesOf: async () => [{ id: 'dlv_1', status: 'retrying', lastError: 'connection refused' }],
    },
    kept: undefined,
    startReceiver: async ({ onDelivery }) => {
      receive = (delivery) => onDelivery?.(delivery);
      return {
        url: 'https://localhost:4000',
        port: 4000,
        stop: async () => {
          calls.push('stop receiver');
        },
      };
    },
    timeoutMs: 20,
    now: () => clock,
    newIdempotencyKey: () => 'key-1',
    signal: new AbortController().signal,
  };
  const wait = (milliseconds: number) => {
    clock += milliseconds;
  };
  return { options, calls, wait };
}

describe('the demonstration', () => {
  it('shows the delivery about its conversation, and how long it took', async () => {
    const service = aService((receive) => {
      queueMicrotask(() => receive(about('cnv_of_someone_else')));
      setImmediate(() => {
        service.wait(38);
        receive(about('cnv_1'));
      });
    });
    const seen = await demonstrate(service.options);
    expect(seen).toMatchObject({ requestMs: 40, arrival: { kind: 'seen', deliveryMs: 38 } });
    expect(seen.arrival.kind === 'seen' && seen.arrival.delivery.body.toString()).toContain('cnv_1');
  });

  it('shows a delivery that arrives before the answer to the request', async () => {
    const service = aService((receive) => receive(about('cnv_1')));
    expect(await demonstrate(service.options)).toMatchObject({ arrival: { deliveryMs: 0 } });
  });

  it('leaves the endpoint, and the receiver that answers its later deliveries', async () => {
    const service = aService((receive) => receive(about('cnv_1')));
    const { endpoint } = await demonstrate(service.options);
    expect(endpoint).toEqual({ id: 'whk_1', secret: 'whsec_c2VjcmV0' });
    expect(service.calls).toEqual([
      'register https://localhost:4000/demonstration conversation.created key-1',
    ]);
  });

  it('moves the endpoint of an earlier start to its receiver', async () => {
    const service = aService((receive) => receive(about('cnv_1')));
    const kept = { id: 'whk_active', secret: 'whsec_ZWFybGllcg==' };
    const { endpoint } = await demonstrate({ ...service.options, kept });
    expect(endpoint).toEqual(kept);
    expect(service.calls).toEqual(['move whk_active https://localhost:4000/demonstration']);
  });

  it('registers another endpoint when the earlier one was deleted or disabled', async () => {
    const service = aService((receive) => receive(about('cnv_1')));
    const kept = { id: 'whk_gone', secret: 'whsec_ZWFybGllcg==' };
    const { endpoint } = await demonstrate({ ...service.options, kept });
    expect(endpoint.id).toBe('whk_1');
  });

  it("goes on with the service's own status when nothing arrives, and lets the receiver answer later", async () => {
    const service = aService(() => undefined);
    expect((await demonstrate(service.options)).arrival).toEqual({
      kind: 'missing',
      reason: 'No delivery arrived within 0.02 s: dlv_1 is retrying, its last error: connection refused.',
    });
    expect(service.calls).not.toContain('stop receiver');
  });

  it('fails on a signature that does not verify', async () => {
    const refused = { kind: 'refused', reason: 'No matching signature found' } as const;
    const service = aService((receive) => receive(about('cnv_1', { verification: refused })));
    await expect(demonstrate(service.options)).rejects.toThrow('No matching signature found');
  });

  it('ends when the user stops the run', async () => {
    const stop = new AbortController();
    const service = aService(() => stop.abort());
    const options = { ...service.options, timeoutMs: 60_000, signal: stop.signal };
    await expect(demonstrate(options)).rejects.toHaveProperty('name', 'AbortError');
    expect(service.calls.at(-1)).toBe('stop receiver');
  });
});
