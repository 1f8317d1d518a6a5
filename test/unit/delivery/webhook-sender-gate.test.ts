import fc from 'fast-check';
import { Webhook } from 'standardwebhooks';
import { describe, expect, it } from 'vitest';
import { deriveSigningSecret } from '../../../functions/delivery/signature.ts';
import { GateClosed } from '../../../functions/tenancy/gate.ts';
import { anEndpoint } from '../../builders.ts';
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
