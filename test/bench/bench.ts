import { readdir, readFile } from 'node:fs/promises';
import { cpus } from 'node:os';
import { parseArgs, styleText } from 'node:util';
import { startReceiver } from '../../lib/local/receiver/receiver.ts';
import { type ApiClient, apiClient } from '../support/api.ts';
import { type LocalRun, startLocalRun, temporaryDirectory } from '../support/local-run.ts';
import { until } from '../support/until.ts';

/*
 * Measures the local run the way it is used: HTTPS receiver, real engines, everything on this machine, the load included.
 */
const { values: options } = parseArgs({
  options: {
    events: { type: 'string', default: '200' },
    messages: { type: 'string', default: '2000' },
    connections: { type: 'string', default: '16' },
    calls: { type: 'string', default: '800' },
    help: { type: 'boolean', default: false },
  },
});
if (options.help) {
  process.stdout.write(`Usage: npm run bench -- [--events 200] [--messages 2000] [--connections 16] [--calls 800]

  start       from the command to Ready: cold, and warm after Ctrl-C
  api         time of a read and of a write over 4 connections, warm
  latency     event committed (its createdAt) to request at the receiver, one at a time
  throughput  messages posted over some connections to one endpoint, until the last is delivered
  kill        the same with the whole run killed in the middle and started again
`);
  process.exit(0);
}

const rows: [string, string][] = [];
const report = (name: string, value: string) => {
  rows.push([name, value]);
  process.stdout.write(`${styleText('dim', name.padEnd(34))} ${value}\n`);
};
const ms = (value: number) => `${value.toFixed(0)} ms`;
const quantile = (sorted: number[], q: number) =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * q))] ?? 0;

/** Sums the resident memory of the run's process group, in MiB. */
async function memoryOf(group: number): Promise<number> {
  let kib = 0;
  for (const entry of await readdir('/proc')) {
    if (!/^\d+$/.test(entry)) continue;
    const [stat, rollup] = await Promise.all(
      ['stat', 'smaps_rollup'].map((file) => readFile(`/proc/${entry}/${file}`, 'utf8').catch(() => '')),
    );
    const session = stat?.slice(stat.lastIndexOf(')') + 2).split(' ')[3];
    if (session === String(group)) kib += Number(/^Pss: +(\d+)/m.exec(rollup ?? '')?.[1] ?? 0);
  }
  return kib / 1024;
}

/** Posts messages over all connections; gives the ids of those that were accepted. */
async function postMessages(api: ApiClient, conversation: string, count: number, lanes: number) {
  const accepted = new Set<string>();
  const refused: number[] = [];
  let next = 0;
  const lane = async () => {
    while (next < count) {
      const number = next++;
      const answer = await api
        .post(`/api/v1/conversations/${conversation}/messages`, {
          role: 'user',
          content: `message ${number}`,
        })
        .catch(() => undefined);
      if (answer?.status === 201) accepted.add(String(answer.body.data?.id));
      else if (answer) refused.push(answer.status);
    }
  };
  await Promise.all(Array.from({ length: lanes }, lane));
  return { accepted, refused };
}

/** Milliseconds of each of `count` calls over all connections, sorted; throws when one is not a success. */
async function timesOf(call: () => Promise<{ status: number }>, count: number, lanes: number) {
  const times: number[] = [];
  let next = 0;
  const lane = async () => {
    while (next++ < count) {
      const began = performance.now();
      const { status } = await call();
      times.push(performance.now() - began);
      if (status >= 300) throw new Error(`a call was answered ${status}`);
    }
  };
  await Promise.all(Array.from({ length: lanes }, lane));
  return times.sort((a, b) => a - b);
}

interface Received {
  seen: Map<string, number>;
  copies: Map<string, number>;
  at: Map<string, number>;
  url: string;
  stop(): Promise<void>;
}

/** A receiver that answers 200 and remembers when it first saw each message and event. */
async function receiverOf(run: LocalRun): Promise<Received> {
  const seen = new Map<string, number>();
  const copies = new Map<string, number>();
  const at = new Map<string, number>();
  const { url, stop } = await startReceiver({
    ...run.tls,
    onDelivery: ({ body, headers, receivedAt }) => {
      const { data, createdAt } = JSON.parse(body.toString());
      const id = data.messageId ?? data.conversationId;
      const delivery = headers['webhook-id'] ?? '';
      copies.set(delivery, (copies.get(delivery) ?? 0) + 1);
      if (!seen.has(id)) seen.set(id, receivedAt.getTime() - Date.parse(createdAt));
      at.set(id, performance.now());
    },
  });
  return { seen, copies, at, url, stop };
}

process.stdout.write(`${cpus().length} x ${cpus()[0]?.model}, Node ${process.version}\n\n`);
const directory = await temporaryDirectory();
try {
  let run = await startLocalRun(directory.path);
  report('start, cold', ms(run.readyAfterMs));
  const stopping = performance.now();
  await run.interrupt();
  report('stop (Ctrl-C)', ms(performance.now() - stopping));
  run = await startLocalRun(directory.path);
  report('start, warm', ms(run.readyAfterMs));

  const four = apiClient(run.environment, 4);
  const read = await four.createConversation();
  for (const [name, call] of [
    ['read', () => four.get(`/api/v1/conversations/${read}`)],
    ['write', () => four.post('/api/v1/conversations', { channelId: 'bench', externalUserId: 'ada' })],
  ] as const) {
    await timesOf(call, 100, 4);
    const times = await timesOf(call, Number(options.calls), 4);
    report(
      `${name} over 4 connections, p50, p99`,
      `${ms(quantile(times, 0.5))}, ${ms(quantile(times, 0.99))}`,
    );
  }
  four.close();

  const connections = Number(options.connections);
  let api = apiClient(run.environment, connections);
  const receiver = await receiverOf(run);
  const subscribed = await api.register(receiver.url, ['message.received']);
  const conversation = await api.createConversation();

  // The first calls start the sandboxes.
  await postMessages(api, conversation, 20, 4);
  await until('the first deliveries', () => receiver.seen.size >= 20);

  const before = new Set(receiver.seen.keys());
  for (let event = 0; event < Number(options.events); event++) {
    const { accepted } = await postMessages(api, conversation, 1, 1);
    await until('a delivery', () => [...accepted].every((id) => receiver.seen.has(id)));
  }
  const latencies = [...receiver.seen].filter(([id]) => !before.has(id)).map(([, value]) => value);
  latencies.sort((a, b) => a - b);
  report(`latency of ${latencies.length}, p50`, ms(quantile(latencies, 0.5)));
  report(`latency of ${latencies.length}, p99`, ms(quantile(latencies, 0.99)));

  const messages = Number(options.messages);
  let peak = 0;
  const watch = setInterval(async () => {
    peak = Math.max(peak, await memoryOf(run.pid));
  }, 5000);
  const began = performance.now();
  const { accepted, refused } = await postMessages(api, conversation, messages, connections);
  const postedAfter = performance.now() - began;
  await until('all deliveries', () => [...accepted].every((id) => receiver.seen.has(id)), 300_000);
  const deliveredAfter = Math.max(...[...accepted].map((id) => receiver.at.get(id) ?? 0)) - began;
  clearInterval(watch);
  report(`${messages} posted, not 2xx`, String(refused.length));
  report(`${messages} posted, accepted`, `${(messages / (postedAfter / 1000)).toFixed(0)}/s`);
  report(`${messages} delivered, end to end`, `${(messages / (deliveredAfter / 1000)).toFixed(0)}/s`);
  report('memory of the whole run, peak', `${peak.toFixed(0)} MiB`);

  // The same once more, killed in the middle.
  const known = receiver.seen.size;
  const posting = postMessages(api, conversation, messages, connections);
  await until('half of the deliveries', () => receiver.seen.size - known >= messages / 2, 300_000);
  await run.kill();
  const interrupted = await posting;
  api.close();
  run = await startLocalRun(directory.path);
  report('start after kill -9', ms(run.readyAfterMs));
  api = apiClient(run.environment, connections);
  const rest = await postMessages(api, conversation, messages - interrupted.accepted.size, connections);
  const all = [...interrupted.accepted, ...rest.accepted];
  const healing = performance.now();
  await until('all deliveries after the kill', () => all.every((id) => receiver.seen.has(id)), 300_000);
  report('last delivery after the kill', ms(performance.now() - healing));
  report('accepted over kill -9, not delivered', String(all.filter((id) => !receiver.seen.has(id)).length));
  const open = await until(
    'all deliveries terminal',
    async () => {
      const deliveries = await api.all(`/api/v1/webhooks/${subscribed.id}/deliveries`);
      return deliveries.every(({ status }) => status === 'succeeded') && deliveries;
    },
    120_000,
  );
  report('deliveries, all succeeded', String(open.length));
  report('duplicates', String([...receiver.copies.values()].filter((count) => count > 1).length));
  api.close();
  await receiver.stop();
  await run.interrupt();
} finally {
  await directory.remove();
}
