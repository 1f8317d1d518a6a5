import { createHmac } from 'node:crypto';
import { Agent, request } from 'node:https';

/*
 * The minimum of a delivery: a process that signs bodies and posts them over kept-alive connections with a
 * fixed concurrency, and nothing else. It reports its processor time for each request, run by run. It runs
 * with the same Node.js options as a function on Lambda.
 */

/** The options of the loop, as JSON in its only argument. */
export interface BareLoopTerms {
  url: string;
  secret: string;
  body: string;
  /** Concurrent requests. */
  atOnce: number;
  /** Requests before the measurement, and of each run. */
  warming: number;
  requests: number;
  runs: number;
}

const terms: BareLoopTerms = JSON.parse(process.argv[2] ?? '');
const url = new URL(terms.url);
const agent = new Agent({ keepAlive: true, maxSockets: terms.atOnce });
const key = Buffer.from(terms.secret.slice('whsec_'.length), 'base64');
let sent = 0;

function post(): Promise<void> {
  sent += 1;
  const id = `dlv_${String(sent).padStart(32, '0')}`;
  const timestamp = Math.floor(Date.now() / 1000);
  const body = Buffer.from(terms.body, 'utf8');
  const signed = createHmac('sha256', key).update(`${id}.${timestamp}.`).update(body).digest('base64');
  return new Promise((resolve, reject) => {
    const outgoing = request(
      {
        agent,
        method: 'POST',
        host: url.hostname,
        port: url.port,
        path: url.pathname,
        servername: url.hostname,
        headers: {
          'content-type': 'application/json',
          'user-agent': 'ConversationService-Webhooks/1.0',
          'webhook-delivery-id': id,
          'webhook-timestamp': String(timestamp),
          'webhook-signature': `v1,${signed}`,
          'webhook-id': `evt_${id.slice(4)}`,
          'webhook-attempt': '1',
          'accept-encoding': 'identity',
          'content-length': String(body.byteLength),
        },
      },
      (response) => {
        response.on('error', reject);
        response.on('end', resolve);
        response.resume();
      },
    );
    outgoing.on('error', reject);
    outgoing.end(body);
  });
}

/**
 * Batches as in a dispatcher: all requests of a batch start at once, and the next batch after the last
 * answer.
 */
async function postAll(count: number): Promise<void> {
  for (let done = 0; done < count; done += terms.atOnce)
    await Promise.all(Array.from({ length: Math.min(terms.atOnce, count - done) }, post));
}

await postAll(terms.warming);
const cpuMs: number[] = [];
for (let run = 0; run < terms.runs; run += 1) {
  const before = process.cpuUsage();
  await postAll(terms.requests);
  const { user, system } = process.cpuUsage(before);
  cpuMs.push((user + system) / 1000 / terms.requests);
}
agent.destroy();
process.stdout.write(JSON.stringify(cpuMs));
