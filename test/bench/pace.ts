import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { cpus } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { styleText } from 'node:util';
import { commandLine, decimal, wholeNumber } from '../../lib/cli/terminal/command-line.ts';
import { apiClient } from '../support/api.ts';
import { type LocalRun, startLocalRun, temporaryDirectory } from '../support/local-run.ts';
import { openLoop } from './measure/open-loop.ts';

/*
 * An endpoint with `maxPerSecond` under more events than it takes, beside one without: requests per second at
 * the receiver, lost and repeated events, and the latency of the other endpoint without and with the limited
 * one.
 */
const options = commandLine(
  'npm run bench -- pace',
  'Sends events for some seconds to an endpoint without a limit, then to that one and one with `maxPerSecond`. Waits until the limited endpoint has received all, and prints its requests per second. Fails when an event is lost, or when a second while deliveries wait is more than 10 % from the limit (one request at least).',
)
  .option('--limit <n>', 'maxPerSecond', wholeNumber(1, 1000), 10)
  .option('--rate <n>', 'events in a second', decimal(0.01, 10_000), 100)
  .option('--seconds <n>', 'of events in each turn', wholeNumber(1, 100_000), 60)
  .parse()
  .opts();

const { limit, rate, seconds } = options;
const say = (text: string) => process.stdout.write(`${text}\n`);
const quantile = (sorted: readonly number[], q: number) =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * q))] ?? 0;

interface Receipt {
  at: number;
  id: string;
  sinceEventMs: number;
}

/** One server for both endpoints, distinguished by path. */
async function startReceivers({ cert, key }: LocalRun['tls']) {
  const receipts: Record<string, Receipt[]> = { '/limited': [], '/other': [] };
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
    url: (path: '/limited' | '/other') => `https://localhost:${port}${path}`,
    take: (path: '/limited' | '/other') => receipts[path]?.splice(0) ?? [],
    count: (path: '/limited' | '/other') => new Set(receipts[path]?.map(({ id }) => id)).size,
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
  const times = [0.5, 0.9, 0.99, 1].map((q) => `${quantile(sorted, q)}`.padStart(6)).join('');
  say(`${name.padEnd(34)} ${sorted.length} receipts, p50 p90 p99 max ms:${times}`);
};

const directory = await temporaryDirectory();
try {
  const run = await startLocalRun(directory.path);
  const api = apiClient(run.environment);
  const receivers = await startReceivers(run.tls);
  say(
    `${cpus().length} x ${cpus()[0]?.model}, Node ${process.version}; ${rate} events/s for ${seconds} s, maxPerSecond ${limit}\n`,
  );
  const conversation = await api.createConversation();
  const path = `/api/v1/conversations/${conversation}/messages`;
  const post = () => api.post(path, { role: 'user', content: 'hello' });
  const send = async (count: number) => {
    const began = performance.now();
    const sent = await openLoop({ perSecond: rate, count }, post);
    const accepted = sent.filter(({ result }) => result.status === 201).length;
    const offered = accepted / ((performance.now() - began) / 1000);
    say(`${accepted} events accepted, ${offered.toFixed(1)} a second`);
    return accepted;
  };
  const all = async (where: '/limited' | '/other', count: number) => {
    let [seen, quietSeconds] = [0, 0];
    while (seen < count && quietSeconds < 180) {
      await sleep(1000);
      const now = receivers.count(where);
      quietSeconds = now === seen ? quietSeconds + 1 : 0;
      seen = now;
    }
  };

  await api.register(receivers.url('/other'), ['message.received']);
  await send(rate * 15);
  await all('/other', rate * 15);
  receivers.take('/other');

  const alone = await send(rate * seconds);
  await all('/other', alone);
  sayLatency('the other endpoint, alone', receivers.take('/other'));

  const { body } = await api.post('/api/v1/webhooks', {
    url: receivers.url('/limited'),
    events: ['message.received'],
    maxPerSecond: limit,
  });
  if (body.data?.maxPerSecond !== limit) throw new Error(`not registered: ${JSON.stringify(body)}`);
  const sent = await send(rate * seconds);
  await all('/other', sent);
  sayLatency('the other endpoint, beside', receivers.take('/other'));
  await all('/limited', sent);

  const receipts = receivers.take('/limited');
  const counts = countBySecond(receipts);
  const whole = counts.slice(0, -1);
  const ids = new Set(receipts.map(({ id }) => id));
  say(`\nrequests per second at the limited endpoint, from its first one:`);
  for (let from = 0; from < counts.length; from += 30)
    say(`${String(from).padStart(5)} s  ${counts.slice(from, from + 30).join(' ')}`);
  const byCount = Map.groupBy(whole, (count) => count);
  say(
    `\nseconds with so many requests: ${[...byCount]
      .toSorted(([a], [b]) => a - b)
      .map(([count, some]) => `${count}: ${some.length}`)
      .join(', ')}`,
  );
  const lasted = ((receipts.at(-1)?.at ?? 0) - (receipts[0]?.at ?? 0)) / 1000;
  say(
    `mean ${(receipts.length / lasted).toFixed(2)} a second over ${lasted.toFixed(1)} s; most in any 1 s ${countMost(receipts, 1000)}, in any 10 s ${countMost(receipts, 10_000)}`,
  );
  const lost = sent - ids.size;
  say(`lost ${lost}, repeated ${receipts.length - ids.size}`);
  const leeway = Math.max(1, limit / 10);
  const outside = whole.filter((count) => Math.abs(count - limit) > leeway).length;
  const isGood = lost === 0 && outside === 0;
  say(styleText('bold', `${outside} of ${whole.length} seconds are not within ${limit} ± ${leeway}`));
  api.close();
  receivers.stop();
  await run.interrupt();
  process.exitCode = isGood ? 0 : 1;
} finally {
  await directory.remove();
}
