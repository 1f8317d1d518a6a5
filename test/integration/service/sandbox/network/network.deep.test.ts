import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { PATIENCE } from 'aws-local/test/patience.ts';
import { until } from 'aws-local/test/until.ts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { WORKERS } from '../../../../../lib/infra/bundle.ts';
import { startTrap, type Trap } from '../../../../support/trap.ts';
import { aPlace, type Pair } from '../../place.ts';
import { type ProgrammedReceiver, startProgrammedReceiver } from '../programmed-receiver.ts';
import { type Background, background, usageOf } from './background.ts';
import { invokeAll } from './invocations.ts';
import { load } from './load.ts';
import { type Observation, type Observer, startObserver } from './observer.ts';

const TENANTS = 3;
/** Host names of a sandbox's endpoints, which no function may resolve. */
const DOMAIN = 'sandbox.example.com';

/*
 * Nothing of a sandbox organization reaches the outside world (docs/architecture.md, Guarantees), as seen in
 * calls to the operating system: with short waits between attempts, and every function observed.
 */
let observer: Observer;

beforeAll(async () => {
  observer = await startObserver();
});
afterAll(() => observer.stop());

const place = aPlace(() => ({
  settings: {
    retryBaseSeconds: 0.2,
    retryCapSeconds: 0.5,
    attemptTimeoutSeconds: 3,
    watchWindowSeconds: 1,
  },
  variables: observer.variables,
}));

describe('the service with sandboxes', () => {
  let trap: Trap;
  const receivers: ProgrammedReceiver[] = [];
  let delivered: Record<string, unknown>[];
  let observed: Observation[];
  let organizations: string[];
  let pairs: Pair[];
  /** Organizations apart from those of the load. */
  let works: Pair;
  let work: Background;
  /** The receivers of live deliveries. */
  let reader: ProgrammedReceiver;

  beforeAll(async () => {
    const before = observer.observed().length;
    trap = place.keep(await startTrap());
    reader = place.keep(await startProgrammedReceiver(place.service().tls));
    works = await place.pair();
    work = await background(place.service(), works, {
      live: reader.url,
      sandbox: `https://localhost:${trap.port}`,
    });
    pairs = await Promise.all(Array.from({ length: TENANTS }, () => place.pair()));
    const loads = pairs.map(async (pair, tenant) => {
      const receiver = place.keep(await startProgrammedReceiver(place.service().tls));
      receivers.push(receiver);
      const sandbox = [
        `https://localhost:${trap.port}`,
        `https://127.0.0.1:${trap.port}`,
        `https://hooks-${tenant}.${DOMAIN}`,
      ];
      return load(pair, { places: { live: [receiver.url], sandbox }, disables: tenant === 0 });
    });
    organizations = pairs.flatMap(({ live, sandbox }) => [live.orgId, sandbox.orgId]);
    // While deliveries of all kinds are open, and once more when all have ended.
    const [deliveries] = await Promise.all([Promise.all(loads), invokeAll(place.service(), organizations)]);
    await invokeAll(place.service(), organizations);
    await work.ended();
    delivered = deliveries.flat();
    observed = observer.observed().slice(before);
  }, 480_000 * PATIENCE);

  const to = (kind: Observation['kind']) => observed.filter((it) => it.kind === kind).map((it) => it.to);

  it('connects only to the engines and to live receivers', () => {
    const engines = observer.observed().filter(({ kind }) => kind === 'engine');
    const allowed = new Set([
      ...engines.map((engine) => new URL(engine.to).host.replace('localhost', '127.0.0.1')),
      ...[...receivers, reader].map(({ port }) => `127.0.0.1:${port}`),
    ]);
    expect(allowed.size).toBeGreaterThan(receivers.length);
    expect([...new Set(to('tcp'))].filter((it) => !allowed.has(it))).toEqual([]);
    expect(trap.connections()).toBe(0);
  });

  it('resolves no host name, and uses no other kind of connection', () => {
    expect(to('dns').filter((name) => name !== 'localhost')).toEqual([]);
    expect([...to('udp'), ...to('pipe')]).toEqual([]);
    expect(observed.filter(({ kind }) => kind === 'process')).toEqual([]);
  });

  it('delays and loses no live delivery', () => {
    expect(delivered.length).toBeGreaterThan(TENANTS * 20);
    expect(new Set(delivered.map(({ status }) => status))).toEqual(
      new Set(['succeeded', 'exhausted', 'skipped']),
    );
    const received = receivers
      .flatMap((receiver) => receiver.received)
      .map(({ headers }) => headers['webhook-delivery-id']);
    expect(new Set(received)).toEqual(
      new Set(delivered.filter(({ attempts }) => attempts !== 0).map(({ id }) => id)),
    );
  });

  it('is observed in each worker and each connection to a receiver', () => {
    // Includes earlier connections, because a process keeps them.
    const by = new Set(
      observer
        .observed()
        .filter(({ kind }) => kind === 'tcp')
        .map((it) => it.by),
    );
    for (const worker of WORKERS) expect(by).toContain(worker);
    for (const receiver of receivers) {
      expect(receiver.connections()).toBeGreaterThan(0);
      expect(to('tcp').filter((it) => it.endsWith(`:${receiver.port}`))).toHaveLength(receiver.connections());
    }
  });

  it('imports sources and sends channel messages for live organizations only', () => {
    const got = reader.received.map(({ target, body }) => `${target} ${body}`);
    expect(got).toContainEqual(expect.stringContaining('/handbook'));
    expect(got).toContainEqual(expect.stringContaining(work.said.live));
    expect(got.filter((it) => it.includes(work.said.sandbox))).toEqual([]);
  });

  it('counts the usage of live organizations exactly, and of no others', async () => {
    for (const { live } of [...pairs, works])
      await until(`the usage of ${live.orgId}`, async () => {
        const { shown, accepted } = await usageOf(place.service(), live);
        return JSON.stringify(shown) === JSON.stringify(accepted) && accepted.messages > 0;
      });
    const ofSandboxes = (await place.service().rows()).filter(
      ({ table, item }) =>
        /Usage|Mailings/.test(table) &&
        pairs.some(({ sandbox }) => String(item.pk).startsWith(sandbox.orgId)),
    );
    expect(ofSandboxes).toEqual([]);
  });

  it('sends e-mails to admins of live organizations only', async () => {
    const mails = await until('the e-mail about the endpoint that was disabled', async () => {
      const all = await place.service().mails();
      return all.some(({ to }) => to.some((address) => address.includes(pairs[0]?.live.orgId ?? ''))) && all;
    });
    const text = JSON.stringify(mails);
    for (const { sandbox } of [...pairs, works]) expect(text).not.toContain(sandbox.orgId);
    expect(text).not.toContain(`:${trap.port}`);
    expect(text).not.toContain(DOMAIN);
  });

  it('uses all queues, for live organizations and for sandboxes', async () => {
    // A slow endpoint that does not answer at all ends as a stalled one.
    const isSlow = (pace: unknown) => ['slow', 'stalled'].includes(Object(pace).is);
    const slow = (await place.service().rows()).filter(({ item }) => isSlow(item.pace));
    expect(slow.map(({ item }) => item.orgId)).toEqual(expect.arrayContaining(organizations));
    expect(delivered.some(({ attempts }) => Number(attempts) > 1)).toBe(true);
  });

  it('is observed in every way to reach out of a process', async () => {
    const { stdout } = await promisify(execFile)(process.execPath, [join(import.meta.dirname, 'probes.ts')], {
      env: { ...observer.variables, FUNCTION_NAME: 'probes' },
    });
    const expected: Record<string, Pick<Observation, 'kind' | 'to'>> = JSON.parse(stdout);
    const seen = observer
      .observed()
      .filter(({ by }) => by === 'probes')
      .map(({ kind, to: it }) => ({ kind, to: it }));
    for (const [way, observation] of Object.entries(expected))
      expect([way, seen]).toEqual([way, expect.arrayContaining([observation])]);
  });
});
