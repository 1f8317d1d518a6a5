import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { cpus } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { styleText } from 'node:util';
import { commandLine, decimal, wholeNumber } from 'terminal/command-line.ts';
import { type ApiClient, apiClient } from '../support/api.ts';
import { type LocalRun, startLocalRun, temporaryDirectory } from '../support/local-run.ts';

/*
 * The effect of endpoints that hang until their deadline on the others: the time from commit to receipt at
 * those that answer, first with all answering and then with some hanging, in alternation.
 */
const options = commandLine(
  'npm run bench -- isolation',
  "Sends events at a rate to all endpoints, in turns of some seconds: without and with some endpoints hanging until the deadline of 10 s. Prints the quantiles of the time from commit to receipt at the endpoints that answer, and the ratio of the turns' p99. A turn is longer than endpoints stay marked as slow, so that each time the hanging ones begin anew; the sandboxes of all lanes are started before.",
)
  .option('--endpoints <n>', 'all endpoints', wholeNumber(1, 1000), 10)
  .option('--hanging <n>', 'of them that hang', wholeNumber(0, 1000), 2)
  .option('--rate <n>', 'events in a second', decimal(0.01, 10_000), 3)
  .option('--seconds <n>', 'of each turn', wholeNumber(1, 100_000), 150)
  .option('--rounds <n>', 'of two turns each', wholeNumber(1, 1000), 1)
  .parse()
  .opts();

const { endpoints, hanging } = options;
/** Starts the sandboxes of all lanes. */
const WARMING_SECONDS = 15;
const say = (text: string) => process.stdout.write(`${text}\n`);
const quantile = (sorted: readonly number[], q: number) =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * q))] ?? 0;

/** One server for all endpoints, distinguished by path. Requests to those that hang get no answer. */
async function startReceivers({ cert, key }: LocalRun['tls']) {
  const latencies: number[] = [];
  let isHanging = false;
  let held = 0;
  const server = createServer({ cert, key, keepAliveTimeout: 60_000 }, (request, response) => {
    const receivedAt = Date.now();
    const endpoint = Number(request.url?.slice(1));
    const chunks: Buffer[] = [];
    request.on('data', (chunk) => chunks.push(chunk));
    request.on('error', () => undefined);
    request.on('end', () => {
      if (endpoint < hanging) {
        // A request hangs if its endpoint does so when it arrives, and is then never answered.
        if (isHanging) held += 1;
        else response.writeHead(204).end();
        return;
      }
      latencies.push(receivedAt - Date.parse(JSON.parse(Buffer.concat(chunks).toString()).createdAt));
      response.writeHead(204).end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: (endpoint: number) => `https://localhost:${port}/${endpoint}`,
    hang(value: boolean) {
      isHanging = value;
    },
    held: () => held,
    take: () => latencies.splice(0).sort((a, b) => a - b),
    stop() {
      server.close();
      server.closeAllConnections();
    },
  };
}

/** Posts at a steady rate, answered or not, so that a slow moment counts. */
async function postFor(
  api: ApiClient,
  conversation: string,
  seconds: number,
  perSecond: number,
): Promise<number> {
  const began = performance.now();
  const calls: Promise<unknown>[] = [];
  for (let number = 0; number < seconds * perSecond; number += 1) {
    await sleep(Math.max(0, began + (number * 1000) / perSecond - performance.now()));
    calls.push(
      api.post(`/api/v1/conversations/${conversation}/messages`, { role: 'user', content: 'hello' }),
    );
  }
  await Promise.all(calls);
  return calls.length;
}

const directory = await temporaryDirectory();
try {
  const run = await startLocalRun(directory.path);
  const api = apiClient(run.environment);
  const receivers = await startReceivers(run.tls);
  say(
    `${cpus().length} x ${cpus()[0]?.model}, Node ${process.version}; ${endpoints} endpoints, ${options.rate} events/s to each\n`,
  );
  for (let endpoint = 0; endpoint < endpoints; endpoint += 1)
    await api.register(receivers.url(endpoint), ['message.received']);
  const conversation = await api.createConversation();
  receivers.hang(true);
  await postFor(api, conversation, WARMING_SECONDS, options.rate);
  receivers.hang(false);
  await sleep(2000);
  receivers.take();

  const all: Record<'answering' | 'hanging', number[]> = { answering: [], hanging: [] };
  for (let round = 0; round < options.rounds; round += 1)
    for (const turn of ['answering', 'hanging'] as const) {
      receivers.hang(turn === 'hanging');
      const sent = await postFor(api, conversation, options.seconds, options.rate);
      await sleep(1500);
      const sorted = receivers.take();
      all[turn].push(...sorted);
      const missing = sent * (endpoints - hanging) - sorted.length;
      const times = [0.5, 0.9, 0.99, 1].map((q) => `${quantile(sorted, q)}`.padStart(6)).join('');
      const name = turn === 'hanging' ? `${hanging} of ${endpoints} hang` : 'all answer';
      say(
        `${name.padEnd(16)} ${sorted.length} receipts, p50 p90 p99 max ms:${times}${missing === 0 ? '' : `  ${missing} not yet received`}`,
      );
    }
  const p99 = {
    answering: quantile(
      all.answering.sort((a, b) => a - b),
      0.99,
    ),
    hanging: quantile(
      all.hanging.sort((a, b) => a - b),
      0.99,
    ),
  };
  say(`\nrequests left hanging: ${receivers.held()}`);
  say(
    `p99 without ${p99.answering} ms, with ${p99.hanging} ms: ${styleText('bold', (p99.hanging / p99.answering).toFixed(2))} times`,
  );
  api.close();
  receivers.stop();
  await run.interrupt();
} finally {
  await directory.remove();
}
