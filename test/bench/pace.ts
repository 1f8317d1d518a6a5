import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { cpus, loadavg } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { styleText } from 'node:util';
import { BatchWriteCommand } from '@aws-sdk/lib-dynamodb';
import { commandLine, decimal, wholeNumber } from 'terminal/command-line.ts';
import { EndpointId, OrgId } from '../../functions/aws/ids.ts';
import { outboxStore } from '../../functions/delivery/outbox.ts';
import { buildEvent } from '../../functions/events/events.ts';
import { apiClient } from '../support/api.ts';
import { type LocalRun, startLocalRun, temporaryDirectory } from '../support/local-run.ts';
import { startRunEngines } from './run-engines.ts';

/*
 * An endpoint with `maxPerSecond` under more events than it takes, beside one without: requests per second
 * at the receiver, lost and repeated events, and the latency of the other endpoint alone, beside as many
 * events for an endpoint without a limit, and beside the limited one.
 */
const options = commandLine(
  'npm run bench -- pace',
  'Writes events to the outbox for some seconds: a few for one endpoint, first alone, then beside many for another one without a limit, then beside as many for one with `maxPerSecond`. Waits until the limited endpoint has received all, and prints its requests per second. Fails when an event is lost, or when a second while deliveries wait is more than 10 % from the limit (one request at least).',
)
  .option('--limit <n>', 'maxPerSecond', wholeNumber(1, 1000), 10)
  .option('--rate <n>', 'events in a second for the limited endpoint', decimal(0.01, 10_000), 100)
  .option('--beside <n>', 'events in a second for the other endpoint', decimal(0.01, 10_000), 5)
  .option('--seconds <n>', 'of events in each turn', wholeNumber(1, 100_000), 60)
  .parse()
  .opts();

const { limit, rate, beside, seconds } = options;
const say = (text: string) => process.stdout.write(`${text}\n`);
const quantile = (sorted: readonly number[], q: number) =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * q))] ?? 0;

interface Receipt {
  at: number;
  id: string;
  sinceEventMs: number;
}

type Path = '/limited' | '/unlimited' | '/other';

/** One server for all endpoints, distinguished by path. */
async function startReceivers({ cert, key }: LocalRun['tls']) {
  const receipts: Record<string, Receipt[]> = { '/limited': [], '/unlimited': [], '/other': [] };
  const server = createServer({ cert, key, keepAliveTimeout: 60_000 }, (request, response) => {
    const at = Date.now();
    const chunks: Buffer[] = [];
    request.on('data', (chunk) => chunks.push(chunk));
    request.on('error', () => undefined);
    request.on('end', () => {
      const sinceEventMs = at - Date.parse(JSON.parse(Buffer.concat(chunks).toString()).createdAt);
      receipts[request.url ?? '']?.push({ at, id: String(request.headers['webhook-id']), sinceEventMs });
      response.writeHead(204).end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: (path: Path) => `https://localhost:${port}${path}`,
    take: (path: Path) => receipts[path]?.splice(0) ?? [],
    count: (path: Path) => new Set(receipts[path]?.map(({ id }) => id)).size,
    stop() {
      server.close();
      server.closeAllConnections();
    },
  };
}

/** Requests of each second, counted from the first one. */
function countBySecond(receipts: readonly Receipt[]): number[] {
  const first = receipts[0]?.at ?? 0;
  const counts: number[] = [];
  for (const { at } of receipts) {
    const second = Math.floor((at - first) / 1000);
    counts[second] = (counts[second] ?? 0) + 1;
  }
  return Array.from(counts, (count) => count ?? 0);
}

/** The most requests in any time of `ms`. */
function countMost(receipts: readonly Receipt[], ms: number): number {
  let [from, most] = [0, 0];
  for (const [to, { at }] of receipts.entries()) {
    while (at - (receipts[from]?.at ?? at) >= ms) from += 1;
    most = Math.max(most, to - from + 1);
  }
  return most;
}

const sayLatency = (name: string, receipts: readonly Receipt[]): void => {
  const sorted = receipts.map(({ sinceEventMs }) => sinceEventMs).sort((a, b) => a - b);
  const times = [0.5, 0.9, 0.99, 1].map((q) => `${quantile(sorted, q)}`.padStart(8)).join('');
  say(`${name.padEnd(34)} ${sorted.length} receipts, p50 p90 p99 max ms:${times}`);
};

const directory = await temporaryDirectory();
const engines = await startRunEngines(join(directory.path, 'engines'));
try {
  const run = await startLocalRun(join(directory.path, 'run'), engines.settings);
  const api = apiClient(run.environment);
  const receivers = await startReceivers(run.tls);
  const { outbox } = await engines.tables();
  const store = outboxStore(outbox);
  const tenant = { orgId: OrgId.parse(run.environment.ORG_ID), generation: 0 };
  say(
    `${cpus().length} x ${cpus()[0]?.model}, load ${loadavg()[0]?.toFixed(1)}, Node ${process.version}; maxPerSecond ${limit}\n`,
  );

  /** Writes events for one endpoint, as routes do in their transactions. */
  async function write(id: EndpointId, count: number): Promise<void> {
    for (let first = 0; first < count; first += 25) {
      const items = Array.from({ length: Math.min(25, count - first) }, () => {
        const event = buildEvent('webhook.test', { webhookId: id }, { tenant, now: new Date(), onlyTo: id });
        return { PutRequest: { Item: Object(store.append(event).write).Put.Item } };
      });
      await outbox.client.send(new BatchWriteCommand({ RequestItems: { [outbox.name]: items } }));
    }
  }

  /** Writes events by the clock. @returns how many, and how many a second */
  async function writeFor(id: EndpointId, perSecond: number): Promise<{ count: number; offered: number }> {
    const began = performance.now();
    const count = Math.round(seconds * perSecond);
    for (let written = 0; written < count; ) {
      const due = Math.min(count, Math.ceil(((performance.now() - began) / 1000) * perSecond));
      await write(id, due - written);
      written = due;
      await sleep(50);
    }
    return { count, offered: count / ((performance.now() - began) / 1000) };
  }

  async function receiveAll(where: Path, count: number): Promise<void> {
    let [seen, quietSeconds] = [0, 0];
    while (seen < count && quietSeconds < 180) {
      await sleep(1000);
      const now = receivers.count(where);
      quietSeconds = now === seen ? quietSeconds + 1 : 0;
      seen = now;
    }
  }

  async function register(where: Path, settings: object): Promise<EndpointId> {
    const { body } = await api.post('/api/v1/webhooks', {
      url: receivers.url(where),
      events: ['ticket.created'],
      ...settings,
    });
    return EndpointId.parse(body.data?.id);
  }

  const other = await register('/other', {});
  const unlimited = await register('/unlimited', {});
  const limited = await register('/limited', { maxPerSecond: limit });
  // Starts the sandboxes, and proves the endpoints, which begin in the slow queue.
  await Promise.all([other, unlimited, limited].map((id) => write(id, 50)));
  const all = ['/other', '/unlimited', '/limited'] as const;
  await Promise.all(all.map((where) => receiveAll(where, 50)));
  for (const where of all) receivers.take(where);

  const alone = await writeFor(other, beside);
  await receiveAll('/other', alone.count);
  sayLatency('the other endpoint, alone', receivers.take('/other'));

  const [control, near] = await Promise.all([writeFor(unlimited, rate), writeFor(other, beside)]);
  await Promise.all([receiveAll('/other', near.count), receiveAll('/unlimited', control.count)]);
  sayLatency('the other, beside the unlimited', receivers.take('/other'));

  const [sent, both] = await Promise.all([writeFor(limited, rate), writeFor(other, beside)]);
  say(`${sent.count} events for the limited endpoint, ${sent.offered.toFixed(1)} a second`);
  await receiveAll('/other', both.count);
  sayLatency('the other, beside the limited', receivers.take('/other'));
  await receiveAll('/limited', sent.count);

  const receipts = receivers.take('/limited');
  const counts = countBySecond(receipts);
  const whole = counts.slice(0, -1);
  const ids = new Set(receipts.map(({ id }) => id));
  say(`\nrequests per second at the limited endpoint, from its first one:`);
  for (let from = 0; from < counts.length; from += 30)
    say(`${String(from).padStart(5)} s  ${counts.slice(from, from + 30).join(' ')}`);
  const bySize = [...Map.groupBy(whole, (count) => count)].toSorted(([a], [b]) => a - b);
  say(`\nseconds by requests: ${bySize.map(([count, some]) => `${count}: ${some.length}`).join(', ')}`);
  const lasted = ((receipts.at(-1)?.at ?? 0) - (receipts[0]?.at ?? 0)) / 1000;
  say(
    `mean ${(receipts.length / lasted).toFixed(2)} a second over ${lasted.toFixed(1)} s; most in any 1 s ${countMost(receipts, 1000)}, in any 10 s ${countMost(receipts, 10_000)}`,
  );
  const lost = sent.count - ids.size;
  say(`lost ${lost}, repeated ${receipts.length - ids.size}; load ${loadavg()[0]?.toFixed(1)}`);
  const leeway = Math.max(1, limit / 10);
  const outside = whole.filter((count) => Math.abs(count - limit) > leeway).length;
  say(styleText('bold', `${outside} of ${whole.length} seconds are not within ${limit} ± ${leeway}`));
  api.close();
  receivers.stop();
  await run.interrupt();
  process.exitCode = lost === 0 && outside === 0 ? 0 : 1;
} finally {
  await engines.stop();
  await directory.remove();
}
