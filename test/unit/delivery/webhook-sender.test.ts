import fc from 'fast-check';
import { Webhook } from 'standardwebhooks';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { newId } from '../../../functions/aws/ids.ts';
import { UnknownKeyVersion } from '../../../functions/aws/keyrings.ts';
import type { OutboundResult } from '../../../functions/delivery/outbound/client.ts';
import { deriveSigningSecret } from '../../../functions/delivery/signature.ts';
import type { OutboxEvent } from '../../../functions/events/events.ts';
import { SLOW_AFTER_SECONDS, SLOW_TO_CONNECT_SECONDS } from '../../../functions/receivers/pace.ts';
import { GateClosed } from '../../../functions/tenancy/gate.ts';
import { anEndpoint, later, NOW, seconds } from '../../builders.ts';
import {
  answered,
  aSender,
  claimed,
  claimedInSandbox,
  endpoint,
  event,
  ignore,
  ring,
} from './sender-fixture.ts';

describe('an attempt', () => {
  it("posts to the endpoint's URL", async () => {
    const { send, sent } = aSender();
    await send(claimed(), endpoint, event, ignore);
    expect(sent().url.href).toBe(endpoint.url);
  });

  it("has the delivery's ids and number in its headers", async () => {
    const delivery = claimed(3);
    const { send, sent } = aSender({ now: later(NOW, 999) });
    await send(delivery, endpoint, event, ignore);
    expect(sent().headers).toEqual({
      'content-type': 'application/json',
      'user-agent': 'Example/1.0',
      'webhook-delivery-id': delivery.id,
      'webhook-timestamp': String(NOW.getTime() / 1000),
      'webhook-signature': expect.stringMatching(/^v1,[A-Za-z0-9+/]{43}=$/),
      'webhook-id': event.id,
      'webhook-attempt': '3',
      'webhook-endpoint-id': endpoint.id,
    });
  });

  it('marks an example of a type, and no other event for one receiver', async () => {
    const markOf = async (changes: Partial<OutboxEvent>) => {
      const { send, sent } = aSender({});
      await send(claimed(), endpoint, { ...event, ...changes }, ignore);
      return sent().headers['webhook-example'];
    };
    const onlyTo = endpoint.id;
    expect(await markOf({ type: 'ticket.created', onlyTo })).toBe('true');
    expect(await markOf({ type: 'ticket.created' })).toBeUndefined();
    expect(await markOf({ type: 'webhook.test', onlyTo })).toBeUndefined();
    expect(await markOf({ type: 'channel.message', onlyTo })).toBeUndefined();
  });

  it("sends exactly the event's bytes, and signs these", async () => {
    const secret = deriveSigningSecret(ring, endpoint.keyVersion, endpoint.id);
    const bodies = fc.jsonValue().map((value) => JSON.stringify({ value, text: 'ü → 𝄞' }, null, 1));
    await fc.assert(
      fc.asyncProperty(bodies, async (body) => {
        // The verifier compares the timestamp with its own clock.
        const { send, sent } = aSender({ now: new Date() });
        await send(claimed(), endpoint, { ...event, body }, ignore);
        const request = sent();
        expect(request.text).toBe(body);
        expect(new Webhook(secret).verify(request.text, request.headers)).toEqual(JSON.parse(body));
      }),
    );
  });

  it('has the time of each attempt in its signature, and the same delivery id', async () => {
    const delivery = claimed();
    const [first, second] = [aSender(), aSender({ now: later(NOW, seconds(30)) })];
    await first.send(delivery, endpoint, event, ignore);
    await second.send(delivery, endpoint, event, ignore);
    expect(second.sent().headers['webhook-delivery-id']).toBe(first.sent().headers['webhook-delivery-id']);
    expect(second.sent().headers['webhook-signature']).not.toBe(first.sent().headers['webhook-signature']);
    expect(second.sent().text).toBe(first.sent().text);
  });

  it('has the webhook-id of its event at every endpoint and in every delivery', async () => {
    const ids = await Promise.all(
      [endpoint, { ...endpoint, id: newId('whk', NOW) }].map(async (receiver) => {
        const { send, sent } = aSender();
        await send({ ...claimed(), id: newId('dlv', NOW), webhookId: receiver.id }, receiver, event, ignore);
        return sent().headers['webhook-id'];
      }),
    );
    expect(ids).toEqual([event.id, event.id]);
  });

  it('is not sent when its key is missing', async () => {
    const { send, requests } = aSender();
    const orphan = anEndpoint({ keyVersion: '7' });
    await expect(send(claimed(), orphan, event, ignore)).rejects.toThrow(UnknownKeyVersion);
    expect(requests).toEqual([]);
  });
});

describe('the result of an attempt', () => {
  it.each([200, 201, 202, 204, 299])('is a success with status %i', async (status) => {
    const { send } = aSender({ result: answered(status) });
    expect(await send(claimed(), endpoint, event, ignore)).toEqual({ status });
  });

  it.each([101, 199, 300, 301, 302, 307, 308, 400, 404, 410, 429, 500, 503, 599])(
    'is a failure with status %i, which includes the response',
    async (status) => {
      const { send } = aSender({ result: answered(status, 'no, thanks') });
      expect(await send(claimed(), endpoint, event, ignore)).toEqual({
        status,
        error: `the receiver answered ${status}`,
        errorCode: [301, 302, 307, 308].includes(status) ? 'redirect' : 'http_status',
        response: 'no, thanks',
      });
    },
  );

  it('is a failure without a status when there was no response', async () => {
    const failure = { error: 'connection refused', errorCode: 'connection_refused' } as const;
    const { send } = aSender({ result: { kind: 'failed', ...failure, durationMs: 5 } });
    expect(await send(claimed(), endpoint, event, ignore)).toEqual(failure);
  });
});

describe('an attempt that keeps its worker waiting', () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  /** An attempt whose answer the test controls. */
  async function underWay() {
    const { promise, resolve, reject } = Promise.withResolvers<OutboundResult>();
    const { promise: written, resolve: write } = Promise.withResolvers<void>();
    const { send } = aSender({ result: promise, written });
    const onSlow = vi.fn();
    const sent = send(claimed(), endpoint, event, onSlow);
    await vi.advanceTimersByTimeAsync(0);
    return { sent, onSlow, write, resolve, reject };
  }

  it('reports it once while it is in progress', async () => {
    const { sent, onSlow, write, resolve } = await underWay();
    // A connection to the other side of the world.
    await vi.advanceTimersByTimeAsync(seconds(SLOW_AFTER_SECONDS) + 200);
    write();

    await vi.advanceTimersByTimeAsync(seconds(SLOW_AFTER_SECONDS) - 1);
    expect(onSlow).not.toHaveBeenCalled();
    await vi.advanceTimersByTimeAsync(1);
    expect(onSlow).toHaveBeenCalledOnce();
    await vi.advanceTimersByTimeAsync(seconds(8));

    resolve(answered(204));
    expect(await sent).toEqual({ status: 204 });
    expect(onSlow).toHaveBeenCalledOnce();
  });

  it('reports it once while it has no connection', async () => {
    const { sent, onSlow, write, resolve } = await underWay();

    await vi.advanceTimersByTimeAsync(seconds(SLOW_TO_CONNECT_SECONDS) - 1);
    expect(onSlow).not.toHaveBeenCalled();
    await vi.advanceTimersByTimeAsync(1);
    expect(onSlow).toHaveBeenCalledOnce();
    write();
    await vi.advanceTimersByTimeAsync(seconds(8));

    resolve(answered(204));
    await sent;
    expect(onSlow).toHaveBeenCalledOnce();
  });

  it('reports nothing after the answer, and leaves no timer behind', async () => {
    const { sent, onSlow, resolve } = await underWay();

    resolve(answered(204));
    await sent;

    expect(vi.getTimerCount()).toBe(0);
    await vi.advanceTimersByTimeAsync(seconds(60));
    expect(onSlow).not.toHaveBeenCalled();
  });

  it('leaves no timer behind when it throws', async () => {
    const { sent, reject } = await underWay();

    reject(new Error('out of sockets'));

    await expect(sent).rejects.toThrow('out of sockets');
    expect(vi.getTimerCount()).toBe(0);
  });
});

/** The endpoint with a URL that programs a simulated receiver. */
const programmed = (query: string) =>
  anEndpoint({ ...endpoint, url: `https://receiver.example.com/${query}` });

function aSandboxSender(options: Parameters<typeof aSender>[0] = {}) {
  const sender = aSender(options);
  sender.states.makeSandbox(endpoint.orgId);
  return sender;
}

describe('an attempt of a sandbox', () => {
  it('goes only to a simulated receiver', async () => {
    const queries = fc.constantFrom(
      '',
      '?simulate=503',
      '?simulate=timeout',
      '?simulate=refused',
      '?simulate=x',
    );
    await fc.assert(
      fc.asyncProperty(queries, fc.integer({ min: 1, max: 8 }), async (query, attempt) => {
        const { send, requests, simulations } = aSandboxSender();
        await send(claimedInSandbox(attempt), programmed(query), event, ignore);
        expect(requests).toEqual([]);
        expect(simulations).toHaveLength(1);
      }),
    );
  });

  it('stores the request, signed so that both receiver libraries verify it', async () => {
    const secret = deriveSigningSecret(ring, endpoint.keyVersion, endpoint.id);
    const bodies = fc.jsonValue().map((value) => JSON.stringify({ value, text: 'ü → 𝄞' }, null, 1));
    await fc.assert(
      fc.asyncProperty(bodies, async (body) => {
        const { send } = aSandboxSender({ now: new Date() });
        const delivery = claimedInSandbox(2);
        const { simulated } = await send(delivery, endpoint, { ...event, body }, ignore);
        const { headers, body: kept } = simulated ?? { headers: {}, body: '' };
        expect(kept).toBe(body);
        expect(headers).toMatchObject({ 'webhook-delivery-id': delivery.id, 'webhook-attempt': '2' });
        const verifier = new Webhook(secret);
        expect(verifier.verify(kept, headers)).toEqual(JSON.parse(body));
        expect(() => verifier.verify(`${kept} `, headers)).toThrow();
      }),
      { numRuns: 50 },
    );
  });

  it.each([
    ['', 1, { status: 200 }],
    [
      '?simulate=503,200',
      1,
      { status: 503, error: 'the receiver answered 503', errorCode: 'http_status', response: '' },
    ],
    ['?simulate=503,200', 2, { status: 200 }],
    ['?simulate=dns', 1, { error: 'host name does not resolve', errorCode: 'dns' }],
    ['?simulate=timeout', 1, { error: 'timed out after 10 s', errorCode: 'timeout' }],
  ])('with the query "%s" has the result of a real one (attempt %i)', async (query, attempt, outcome) => {
    const { send } = aSandboxSender();
    const { simulated, ...reported } = await send(
      claimedInSandbox(attempt),
      programmed(query),
      event,
      ignore,
    );
    expect(reported).toEqual(outcome);
    expect(simulated).toMatchObject({ method: 'POST', url: programmed(query).url });
  });

  it('sends the same request as a live one', async () => {
    const [live, sandbox] = [aSender(), aSandboxSender()];
    const delivery = claimed();
    await live.send(delivery, endpoint, event, ignore);
    await sandbox.send({ ...delivery, generation: 1 }, endpoint, event, ignore);
    expect(sandbox.simulations).toEqual(live.requests);
  });

  it('belongs to the organization of the delivery, regardless of the endpoint', async () => {
    const { send, requests, simulations } = aSandboxSender();
    await send(claimedInSandbox(), anEndpoint(), event, ignore);
    expect(requests).toEqual([]);
    expect(simulations).toHaveLength(1);
  });

  it('goes to a simulated receiver also where its data says that it is live: the organization decides', async () => {
    const { send, requests, simulations } = aSandboxSender();
    await send(claimed(), endpoint, event, ignore);
    expect(requests).toEqual([]);
    expect(simulations).toHaveLength(1);
  });
});

describe('an attempt of a live organization', () => {
  it('is sent to its whole URL, regardless of a program in it', async () => {
    const { send, requests, simulations } = aSender({ result: answered(201) });
    const { url } = programmed('?simulate=503,timeout&simulate-speed=1000');
    expect(await send(claimed(), { ...endpoint, url }, event, ignore)).toEqual({ status: 201 });
    expect(requests.map((request) => request.url.href)).toEqual([url]);
    expect(simulations).toEqual([]);
  });
});

describe('an attempt for an unknown organization', () => {
  it('is not sent', async () => {
    const { send, states, requests, simulations } = aSender();
    states.forget(endpoint.orgId);
    await expect(send(claimed(), endpoint, event, ignore)).rejects.toThrow(GateClosed);
    expect([...requests, ...simulations]).toEqual([]);
  });
});
