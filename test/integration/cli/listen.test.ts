import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { PATIENCE } from 'aws-local/test/patience.ts';
import { Webhook } from 'standardwebhooks';
import { describe, expect, it, onTestFinished } from 'vitest';
import { aLocalRun } from './a-local-run.ts';
import { aUser, startCommand } from './conversations.ts';
import { aDelivery, anEndpoint, idOf } from './fake-organization.ts';

const SECRET = 'whsec_c2VjcmV0IG9mIHRoZSB0ZXN0';

describe('conversations listen', { timeout: 60_000 * PATIENCE }, () => {
  it('registers an endpoint, shows and verifies deliveries, and deletes the endpoint', async () => {
    const { api, listen, onlyEndpoint } = await aLocalRun();
    const program = listen();
    await program.shows(/Listening as whk_1 for all event types\n/);
    expect(await api.deliver(onlyEndpoint(), { id: 'dlv_1', attempt: 1, data: { n: 1 } })).toBe(200);
    await program.shows(/conversation\.created {2}attempt 1 {2}✓ verified\n +evt_fake_1 {2}dlv_1\n/);
    await program.shows(/← 200 after \d+ ms {2}dlv_1/);
    program.stop();
    expect(await program.ended).toBe(0);
    expect(program.output()).toContain('Received one delivery.');
    expect(api.endpoints.size).toBe(0);
  });

  it('answers the given sequence of statuses to each delivery, and marks a duplicate', async () => {
    const { api, listen, onlyEndpoint } = await aLocalRun();
    const program = listen('--status', '500,200', '--type', 'ticket.created,message.received');
    await program.shows(/Listening as whk_1 for ticket.created, message.received\n/);
    expect(onlyEndpoint().events).toEqual(['ticket.created', 'message.received']);
    const deliver = (id: string, attempt: number) => api.deliver(onlyEndpoint(), { id, attempt, data: {} });
    expect(await deliver('dlv_1', 1)).toBe(500);
    expect(await deliver('dlv_2', 1)).toBe(500);
    expect(await deliver('dlv_1', 2)).toBe(200);
    expect(program.output()).not.toContain('duplicate');
    expect(await deliver('dlv_1', 3)).toBe(200);
    await program.shows(/attempt 3 {2}✓ verified {2}duplicate/);
    program.stop();
    expect(await program.ended).toBe(0);
    expect(program.output()).toContain('Received 2 deliveries in 4 attempts.');
  });

  it('passes on body and headers, and returns the status', async () => {
    const received: { body: Buffer; headers: Record<string, string> }[] = [];
    const customer = createServer(async (request, response) => {
      received.push({ body: await buffer(request), headers: request.headers as Record<string, string> });
      response.writeHead(418).end();
    });
    await new Promise<void>((resolve) => customer.listen(0, '127.0.0.1', resolve));
    onTestFinished(async () => {
      customer.closeAllConnections();
      await new Promise((resolve) => customer.close(resolve));
    });
    const { port } = customer.address() as AddressInfo;

    const { api, listen, onlyEndpoint } = await aLocalRun();
    const listening = listen('--forward', `http://127.0.0.1:${port}/hook`);
    await listening.shows(/The signing secret for your receiver is whsec_c2VjcmV0IG9mIHRoZSBmYWtl\n/);
    expect(await api.deliver(onlyEndpoint(), { id: 'dlv_1', attempt: 1, data: {} })).toBe(418);
    const [passed] = received;
    expect(() =>
      new Webhook(onlyEndpoint().secret).verify(passed?.body ?? '', passed?.headers ?? {}),
    ).not.toThrow();
  });

  it('answers 502 when no receiver listens', async () => {
    const { api, listen, onlyEndpoint } = await aLocalRun();
    const program = listen('--forward', 'http://127.0.0.1:1/');
    await program.shows(/Listening/);
    expect(await api.deliver(onlyEndpoint(), { id: 'dlv_1', attempt: 1, data: {} })).toBe(502);
    await program.shows(/http:\/\/127\.0\.0\.1:1\/: nothing listens there\. Start the server/);
  });

  it('only listens, for an endpoint that was registered by hand', async () => {
    const { api, listen } = await aLocalRun();
    const program = listen('--secret', SECRET, '--port', '0');
    const [, origin = ''] = await program.shows(/Listening at (https:\/\/localhost:\d+), any path\n/);
    const endpoint = { id: 'whk_own', url: `${origin}/hooks`, events: [], secret: SECRET };
    expect(await api.deliver(endpoint, { id: 'dlv_1', attempt: 1, data: {} })).toBe(200);
    await program.shows(/✓ verified/);
    expect(
      await api.deliver({ ...endpoint, secret: 'whsec_YW5vdGhlcg==' }, { id: 'dlv_2', attempt: 1, data: {} }),
    ).toBe(200);
    await program.shows(/✗ /);
    expect(api.calls).toEqual([]);
  });

  it('exits without an error when the service was stopped first', async () => {
    const { api, listen } = await aLocalRun();
    const program = listen();
    await program.shows(/Listening/);
    await api.stop();
    program.stop();
    expect(await program.ended).toBe(0);
    expect(program.output()).toContain('whk_1 stays registered: ');
  });

  it('asks for an API where there is none, and refuses flags of the local run elsewhere', async () => {
    const { directory, run } = await aUser();
    const program = startCommand(['listen'], { variables: { HOME: directory }, cwd: directory });
    expect(await program.ended).toBe(3);
    expect(program.errors()).toContain('Which API?');
    expect(await run('listen', '--port', '1')).toMatchObject({ code: 2 });
  });

  it('prints a line of JSON for each answered delivery with --json', async () => {
    const { api, listen, onlyEndpoint } = await aLocalRun();
    const program = listen('--json');
    await program.shows(/Listening/);
    await api.deliver(onlyEndpoint(), { id: 'dlv_1', attempt: 1, data: { n: 1 } });
    await program.shows(/"status":200/);
    expect(program.lines()).toMatchObject([
      {
        eventId: 'evt_fake_1',
        deliveryId: 'dlv_1',
        attempt: 1,
        verification: { kind: 'verified' },
        status: 200,
      },
    ]);
    expect(program.errors()).toContain('Listening as whk_1');
  });
});

describe('conversations listen at a sandbox', { timeout: 60_000 * PATIENCE }, () => {
  const aPost = (secret: string, at: Date, body: string) => ({
    method: 'POST',
    url: 'https://example.com/listen',
    headers: {
      'webhook-id': idOf('evt', 1),
      'webhook-delivery-id': idOf('dlv', 1),
      'webhook-attempt': '1',
      'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
      'webhook-signature': new Webhook(secret).sign(idOf('evt', 1), at, body),
    },
    body,
  });

  it('registers an endpoint whose receiver is simulated, verifies and shows its deliveries, and deletes it', async () => {
    const { api, start } = await aUser();
    const program = start(['listen', '--type', 'ticket.created', '--status', '500,200', '--delay', '1']);
    await program.shows(/Listening as whk_\d+ for ticket\.created\n {2}in the sandbox at http/);
    expect(api.endpoints[0]).toMatchObject({
      url: 'https://example.com/listen?simulate=500@1000ms,200@1000ms',
      events: ['ticket.created'],
    });
    const { id = '' } = api.endpoints[0] ?? {};
    const request = aPost(SECRET, new Date(), '{"type":"ticket.created"}');
    api.deliveries.push(
      aDelivery(1, { webhookId: id, request, status: 'retrying', lastResponseStatus: 500 }),
    );
    await program.shows(/ticket\.created {2}attempt 1 {2}✓ verified\n/);
    await program.shows(/← 500, simulated {2}dlv_1/);
    program.stop();
    expect(await program.ended).toBe(0);
    expect(program.output()).toContain('Received one delivery.');
    expect(api.endpoints).toEqual([]);
  });

  it('shows the signing secret that a receiver needs which it posts to', async () => {
    const { start } = await aUser();
    const program = start(['listen', '--forward', 'http://127.0.0.1:1/']);
    await program.shows(/The signing secret for your receiver is whsec_c2VjcmV0IG9mIHRoZSB0ZXN0\n/);
  });

  it('posts the bytes of each delivery to a URL, and prints lines of JSON', async () => {
    const received: string[] = [];
    const customer = createServer(async (request, response) => {
      received.push((await buffer(request)).toString());
      response.writeHead(418).end();
    });
    await new Promise<void>((resolve) => customer.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void customer.close());
    const { port } = customer.address() as AddressInfo;
    const { api, start } = await aUser();
    api.endpoints.push(anEndpoint(1));
    const body = '{"type": "ticket.created",  "text":"Grüße ☃"}';
    const to = `http://127.0.0.1:${port}/hooks`;
    const listening = ['listen', '--endpoint', idOf('whk', 1), '--forward', to, '--json', '--since', 'all'];
    api.deliveries.push(aDelivery(1, { request: aPost(SECRET, new Date(), body) }));
    const program = start(listening);
    await program.shows(/"status":418/);
    expect(received).toEqual([body]);
    expect(program.lines()).toMatchObject([{ deliveryId: idOf('dlv', 1), status: 418, body, attempt: 1 }]);
    expect(api.endpoints).toHaveLength(1);
  });
});
