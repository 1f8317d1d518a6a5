import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { awaitAssertion } from 'aws-local/test/until.ts';
import { Webhook } from 'standardwebhooks';
import { writeEnvironmentFile } from 'terminal/local-run/environment-file.ts';
import { describe, expect, it, onTestFinished } from 'vitest';
import { ensureCertificates } from '../../../lib/local-run/certificates/certificate-files.ts';
import {
  type ReceivedDelivery,
  type ReceiverOptions,
  startReceiver,
} from '../../../packages/cli/src/receiver/receiver.ts';
import { type FakeSandbox, startFakeSandbox } from './fake-sandbox.ts';
import { startProgram } from './program.ts';
import { temporaryDirectory } from './temporary-directory.ts';

/** A directory as `npm start` leaves it, a fake of the API that it names, and a developer's receiver. */
async function aLocalRun(options: Pick<ReceiverOptions, 'respond'> = {}) {
  const directory = join(await temporaryDirectory(), 'local');
  await mkdir(directory);
  await writeFile(join(directory, '.conversation-service-local'), '');
  const certificates = await ensureCertificates(directory, new Date());
  const sandbox = await startFakeSandbox();
  onTestFinished(() => sandbox.stop());
  await writeEnvironmentFile(join(directory, 'env'), {
    BASE_URL: sandbox.url,
    API_KEY: 'ck_live_fake',
    ORG_ID: 'org_fake',
    SANDBOX_API_KEY: sandbox.key,
    SANDBOX_ORG_ID: 'org_sandbox',
    CA_FILE: certificates.caFile,
    RECEIVER_CERT_FILE: certificates.receiverCertFile,
    RECEIVER_KEY_FILE: certificates.receiverKeyFile,
  });
  const received: ReceivedDelivery[] = [];
  const receiver = await startReceiver({
    ...certificates.receiver,
    onDelivery: (delivery) => received.push(delivery),
    ...options,
  });
  onTestFinished(() => receiver.stop());
  const run = (args: readonly string[], env: Record<string, string> = {}) =>
    startProgram('packages/cli/bin/conversations.js', ['forward', ...args], { LOCAL_DIR: directory, ...env });
  const to = ['--to', `${receiver.url}/hooks`];
  const forward = (...args: string[]) => run([...to, ...args]);
  const ids = () => received.map(({ headers }) => headers['webhook-delivery-id']);
  const receives = (count: number) =>
    awaitAssertion(() => {
      if (received.length < count) throw new Error(`${received.length} of ${count} received`);
    });
  return { directory, sandbox, receiver, received, ids, receives, run, to, forward };
}

const saved = (directory: string) => readdir(join(directory, 'forward'));

/** Whether both public libraries of Standard Webhooks accept it. */
function verifies({ body, headers }: ReceivedDelivery, secret: string): boolean {
  new Webhook(secret).verify(body, headers, { jsonParse: false });
  return true;
}

describe('conversations forward', { timeout: 60_000 }, () => {
  it('posts new deliveries byte for byte, with signatures that verify', async () => {
    const { directory, sandbox, received, ids, receives, forward } = await aLocalRun();
    const endpoint = sandbox.register();
    const before = sandbox.happens(endpoint, { ago: 60_000 });
    const program = forward();
    await program.shows(/Forwarding the sandbox at http.* → https:.*\/hooks\n {2}whk_1; from now on\./);
    const delivery = sandbox.happens(endpoint);
    await receives(1);
    await program.shows(/← 200 after/);

    const [first] = received;
    if (first === undefined) return expect.unreachable();
    expect(first.body.toString()).toBe(delivery.body);
    expect(first).toMatchObject({
      path: '/hooks',
      headers: {
        'content-type': 'application/json',
        'webhook-delivery-id': delivery.id,
        'webhook-id': 'evt_fake',
        'webhook-attempt': '1',
      },
    });
    expect(first.headers.host).not.toBe('example.com');
    expect(verifies(first, endpoint.secret)).toBe(true);

    program.signal('SIGINT');
    expect(await program.ended).toBe(0);
    const output = program.output();
    expect(output).toContain(`evt_fake  ${delivery.id}  whk_1`);
    expect(output).toMatch(/message\.received {2}attempt 1 {2}→ https:\/\/localhost:\d+\/hooks\n/);
    expect(output).toMatch(/Forwarded one delivery\. Where it stopped is kept in .*\.json'?\.\n$/);
    expect(output).not.toContain(before.id);
    expect(program.errors()).toBe('');
    expect(ids()).toEqual([delivery.id]);

    const [file = ''] = (await saved(directory)).filter((name) => name.endsWith('.json'));
    const path = join(directory, 'forward', file);
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    expect(output + (await readFile(path, 'utf8'))).not.toContain(sandbox.key);
  });

  it('continues after kill -9 in order, with none missed and at most one repeated', async () => {
    const answers = { held: Number.POSITIVE_INFINITY };
    const { sandbox, received, ids, receives, forward } = await aLocalRun({
      respond: () => (received.length === answers.held ? new Promise(() => undefined) : { status: 200 }),
    });
    const endpoints = [sandbox.register(), sandbox.register()] as const;
    const all = Array.from({ length: 30 }, (_, index) =>
      sandbox.happens(endpoints[index % 2 === 0 ? 0 : 1], { ago: (60 - index) * 60_000 }),
    );
    answers.held = 11;
    const first = forward('--since', 'all');
    await receives(11);
    first.signal('SIGKILL');
    await first.ended;

    // Deliveries from the time in between are not lost either, including those of an endpoint that is
    // registered then.
    const late = sandbox.happens(endpoints[0]);
    const third = sandbox.register();
    const ofThird = sandbox.happens(third);
    const second = forward();
    await second.shows(/from where it stopped/);
    await receives(33);
    second.signal('SIGINT');
    expect(await second.ended).toBe(0);
    const expected = [...all, late, ofThird].map(({ id }) => id);
    expect(ids()).toEqual([...expected.slice(0, 11), ...expected.slice(10)]);
    expect(second.output()).toContain('Forwarded 22 deliveries.');
  });

  it('survives kill -9 at any moment', async () => {
    let check = (): void => undefined;
    const { sandbox, ids, forward } = await aLocalRun({
      respond: () => {
        check();
        return { status: 200 };
      },
    });
    const endpoint = sandbox.register();
    const all = Array.from(
      { length: 40 },
      (_, index) => sandbox.happens(endpoint, { ago: (60 - index) * 60_000 }).id,
    );
    let kills = 0;
    for (const seen of [1, 7, 8, 20, 33]) {
      const program = forward('--since', 'all');
      const reached = Promise.withResolvers<void>();
      check = () => {
        if (new Set(ids()).size >= seen) reached.resolve();
      };
      check();
      await reached.promise;
      program.signal('SIGKILL');
      await program.ended;
      kills += 1;
    }
    expect(await forward('--once').ended).toBe(0);
    expect([...new Set(ids())]).toEqual(all);
    expect(ids().length - all.length).toBeLessThanOrEqual(kills);
  });

  it('waits for a delivery without an attempt, and forwards one that appears late', async () => {
    const { sandbox, ids, receives, forward } = await aLocalRun();
    const endpoint = sandbox.register();
    forward('--since', '1h');
    const waiting = sandbox.happens(endpoint, { ago: 20_000, isAttempted: false });
    const later = sandbox.happens(endpoint);
    await receives(1);
    sandbox.attempt(waiting);
    await receives(2);
    const late = sandbox.happens(endpoint, { ago: 30_000 });
    await receives(3);
    expect(ids()).toEqual([later.id, waiting.id, late.id]);
  });

  it('follows the given endpoints, and the first endpoint of an empty sandbox', async () => {
    const { sandbox, ids, receives, forward } = await aLocalRun();
    const program = forward();
    await program.shows(/The sandbox has no endpoint yet: waiting for one\./);
    const first = sandbox.register();
    await program.shows(/Follows whk_1 too/);
    const delivery = sandbox.happens(first);
    await receives(1);
    program.signal('SIGINT');
    await program.ended;

    const second = sandbox.register();
    sandbox.happens(first);
    const wanted = sandbox.happens(second);
    expect(await forward('--once', '--endpoint', second.id).ended).toBe(0);
    expect(ids()).toEqual([delivery.id, wanted.id]);
    const unknown = forward('--endpoint', 'whk_9');
    expect(await unknown.ended).toBe(1);
    expect(unknown.errors().trim()).toBe('The sandbox has no endpoint whk_9: it has whk_1, whk_2.');
  });

  it('forwards existing deliveries once, and fails if one was not accepted', async () => {
    const statuses = [200, 500, 200];
    const { sandbox, received, forward } = await aLocalRun({
      respond: () => ({ status: statuses[received.length - 1] ?? 200 }),
    });
    const endpoint = sandbox.register();
    for (const ago of [3000, 2000, 1000]) sandbox.happens(endpoint, { ago });
    const first = forward('--once', '--since', '10m');
    expect(await first.ended).toBe(1);
    expect(first.output()).toContain('← 500 after');
    expect(first.output()).toContain('Forwarded 3 deliveries, 1 not accepted.');
    expect(first.errors().trim()).toBe('1 of 3 were not accepted.');

    const second = forward('--once', '--since', '10m');
    expect(await second.ended).toBe(0);
    expect(second.output()).toContain('Forwarded nothing.');
    const third = forward('--once', '--since', '10m', '--fresh');
    expect(await third.ended).toBe(0);
    expect(received.length).toBe(6);
  });

  it('reports a receiver that does not listen, and does not retry', async () => {
    const { sandbox, run } = await aLocalRun();
    sandbox.happens(sandbox.register(), { ago: 1000 });
    const to = ['--to', 'http://127.0.0.1:1/', '--once', '--since', 'all'];
    const program = run(to);
    expect(await program.ended).toBe(1);
    expect(program.output()).toMatch(/✗ nothing listens there after \d+ ms {2}dlv_\w+\n +Start the server/);
    expect(await run(to).ended).toBe(0);
  });

  it('waits for the time in a 429 and reports it once', async () => {
    const { sandbox, receives, forward } = await aLocalRun();
    const endpoint = sandbox.register();
    const program = forward();
    await program.shows(/from now on/);
    sandbox.refuse(429, 2);
    await program.shows(/used up, your own calls included\. Waiting 1 s …/);
    sandbox.happens(endpoint);
    await receives(1);
    await program.shows(/The API answers again\./);
    expect(program.output().match(/used up/g)).toHaveLength(1);
  });

  it('keeps to the budget of the rate limit headers', async () => {
    const { sandbox, forward } = await aLocalRun();
    sandbox.register();
    sandbox.tellBudget({ remaining: 0, seconds: 5 });
    const program = forward();
    await awaitAssertion(() => expect(sandbox.calls.length).toBeGreaterThanOrEqual(3));
    program.signal('SIGINT');
    await program.ended;
    const [first, second, third] = sandbox.calls.map(({ at }) => at);
    // Measured on arrival, so seconds of transport on a busy machine are subtracted. Without pacing, the
    // calls would follow one another at once.
    expect((second ?? 0) - (first ?? 0)).toBeGreaterThan(1000);
    expect((third ?? 0) - (second ?? 0)).toBeGreaterThan(1000);
  });

  it('waits while the API fails or is down, and reports its return', async () => {
    const { sandbox, receives, forward } = await aLocalRun();
    const endpoint = sandbox.register();
    const program = forward();
    await program.shows(/from now on/);
    sandbox.refuse(503, 2);
    await program.shows(/answers 503 \(Request-Id req_fake\)\. Trying again …[\s\S]*The API answers again\./);
    await sandbox.stop();
    // A request may be in progress when the API stops.
    await program.shows(
      /cannot be reached: (nothing listens there|the connection was closed).*\. Trying again …/,
    );
    sandbox.happens(endpoint);
    await sandbox.start();
    await receives(1);
    await program.shows(/answers again[\s\S]*answers again/);
    expect(program.output().match(/Trying again/g)).toHaveLength(2);
    expect(program.output().match(/answers again/g)).toHaveLength(2);
  });

  it('gives up after a few failures with --once', async () => {
    const { sandbox, forward } = await aLocalRun();
    sandbox.refuse(500);
    const program = forward('--once');
    expect(await program.ended).toBe(1);
    expect(program.errors()).toContain('answers 500');
  });

  it('restarts with the deliveries that exist after a reset', async () => {
    const { sandbox, ids, receives, forward } = await aLocalRun();
    const endpoint = sandbox.register();
    for (let index = 0; index < 10; index += 1) sandbox.happens(endpoint, { ago: 60_000 });
    const program = forward('--since', 'all');
    await receives(10);
    sandbox.reset();
    const delivery = sandbox.happens(endpoint);
    await receives(11);
    expect(ids().at(-1)).toBe(delivery.id);
    program.signal('SIGTERM');
    expect(await program.ended).toBe(0);
  });

  it('leaves out an endpoint that is deleted', async () => {
    const { sandbox, forward } = await aLocalRun();
    const endpoint = sandbox.register();
    const program = forward();
    await program.shows(/from now on/);
    sandbox.remove(endpoint);
    await program.shows(/Deleted meanwhile: whk_1\./);
    sandbox.register();
    await program.shows(/Follows whk_1 too\./);
  });

  it('stops while the receiver is busy, and starts with that delivery the next time', async () => {
    const { sandbox, ids, receives, received, forward } = await aLocalRun({
      respond: () => (received.length === 1 ? new Promise(() => undefined) : { status: 200 }),
    });
    const delivery = sandbox.happens(sandbox.register(), { ago: 1000 });
    const program = forward('--since', 'all');
    await receives(1);
    program.signal('SIGINT');
    expect(await program.ended).toBe(0);
    expect(program.output()).toContain('Forwarded nothing.');
    expect(await forward('--once').ended).toBe(0);
    expect(ids()).toEqual([delivery.id, delivery.id]);
  });

  it('keeps its position in the given file, which no other run may use', async () => {
    const { sandbox, receives, run, to } = await aLocalRun();
    sandbox.happens(sandbox.register(), { ago: 1000 });
    const nowhere = await temporaryDirectory();
    const state = join(nowhere, 'below', 'position.json');
    const env = {
      LOCAL_DIR: join(nowhere, 'none'),
      CONVERSATIONS_BASE_URL: sandbox.url,
      CONVERSATIONS_API_KEY: sandbox.key,
    };
    const http = [...to.slice(0, 1), 'http://127.0.0.1:1/'];
    const program = run([...http, '--state', state, '--since', 'all'], env);
    await program.shows(/nothing listens there/);
    const other = run([...http, '--state', state], env);
    expect(await other.ended).toBe(1);
    expect(other.errors().trim()).toBe(
      `Another forward uses '${state}': stop it, or choose another file with --state.`,
    );
    expect((await readdir(nowhere)).sort()).toEqual(['below']);
    await writeFile(join(nowhere, 'thesis.tex'), 'Abstract');
    const wrong = run([...http, '--state', join(nowhere, 'thesis.tex')], env);
    expect(await wrong.ended).toBe(1);
    expect(wrong.errors()).toContain('is not a position of forward');
    expect(await readFile(join(nowhere, 'thesis.tex'), 'utf8')).toBe('Abstract');
    await expect(receives(0)).resolves.toBeUndefined();
  });

  it('needs no local run, and leaves a directory that one can use', async () => {
    const { sandbox, run } = await aLocalRun();
    const directory = join(await temporaryDirectory(), 'local');
    const env = { LOCAL_DIR: directory, CONVERSATIONS_API_KEY: sandbox.key };
    const flags = ['--to', 'http://127.0.0.1:1/', '--base-url', `${sandbox.url}/api/v1/`, '--once'];
    const program = run(flags, env);
    expect(await program.ended).toBe(0);
    expect(await readdir(directory)).toContain('.conversation-service-local');
  });
});

describe('conversations forward refuses to start', { timeout: 60_000 }, () => {
  const readError = async (sandbox: FakeSandbox, env: Record<string, string>, code = 3) => {
    const directory = join(await temporaryDirectory(), 'local');
    const program = startProgram(
      'packages/cli/bin/conversations.js',
      ['forward', '--to', 'http://127.0.0.1:1/'],
      {
        LOCAL_DIR: directory,
        CONVERSATIONS_BASE_URL: sandbox.url,
        ...env,
      },
    );
    expect(await program.ended).toBe(code);
    expect(program.errors()).not.toContain('    at ');
    return program.errors().trim();
  };

  it('without a key, with a live one, or with an invalid one', async () => {
    const sandbox = await startFakeSandbox();
    onTestFinished(() => sandbox.stop());
    expect(await readError(sandbox, {})).toContain('There is no key for');
    expect(await readError(sandbox, { CONVERSATIONS_API_KEY: 'ck_live_x' })).toContain('is a live key');
    expect(await readError(sandbox, { CONVERSATIONS_API_KEY: 'ck_sandbox_other' })).toBe(
      `The API at ${sandbox.url} does not take the key.`,
    );
    sandbox.refuse(403);
    expect(await readError(sandbox, { CONVERSATIONS_API_KEY: sandbox.key })).toContain(
      'may not read endpoints',
    );
  });

  it('without an API', async () => {
    const sandbox = await startFakeSandbox();
    await sandbox.stop();
    expect(await readError(sandbox, { CONVERSATIONS_API_KEY: sandbox.key }, 4)).toBe(
      `The API at ${sandbox.url} cannot be reached: nothing listens there. Start it with npm start.`,
    );
    expect(await readError(sandbox, { CONVERSATIONS_BASE_URL: '' })).toContain('Which API?');
  });

  it('with an invalid flag, and prints its help', async () => {
    const help = startProgram('packages/cli/bin/conversations.js', ['forward', '--help'], {});
    expect(await help.ended).toBe(0);
    expect(help.output()).toContain('--endpoint <whk_…>');
    const wrong = startProgram('packages/cli/bin/conversations.js', ['forward'], {});
    expect(await wrong.ended).toBe(2);
    expect(wrong.errors()).toContain("required option '--to <url>' not specified");
  });
});
