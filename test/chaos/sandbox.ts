import { setTimeout as sleep } from 'node:timers/promises';
import type { ApiClient } from '../support/api.ts';
import type { Row } from '../support/tables.ts';
import { type Load, postMessage } from './load.ts';

/**
 * Programs of simulated receivers, ten times as fast as real ones: success, recovery, slow answers, and
 * permanent failure.
 */
const PROGRAMS = [
  'simulate=200',
  'simulate=503,reset,200',
  'simulate=timeout,301,200@700ms',
  'simulate=500&simulate-speed=100',
];

/** The sandbox of the local organization, in the current run. */
export interface SandboxNow {
  /** With a key of the sandbox. */
  client: ApiClient;
  /** With the session of an admin. */
  admin: ApiClient;
}

export interface SandboxLoad extends Load {
  webhooks: string[];
  resets: number;
}

/** Registers an endpoint for each program, all with the same host and port, which must get no connection. */
export async function sandboxLoad({ client }: SandboxNow, port: number): Promise<SandboxLoad> {
  const webhooks: string[] = [];
  for (const program of PROGRAMS) {
    const { id } = await client.register(`https://localhost:${port}/?${program}`, ['message.received']);
    webhooks.push(id);
  }
  return { webhooks, accepted: new Set(), others: new Map(), resets: 0 };
}

/**
 * Posts messages to the sandbox until it is stopped, with resets in between. Messages from before the last
 * reset need not be delivered.
 * @param now gives the sandbox of the current run, while it runs
 * @param options.resets how many resets there are
 */
export async function loadSandbox(
  load: SandboxLoad,
  now: () => SandboxNow | undefined,
  {
    perSecond,
    resets,
    signal,
  }: { perSecond: number; resets: { everyMs: number; times: number }; signal: AbortSignal },
): Promise<void> {
  let conversation: string | undefined;
  let resetAt = performance.now() + resets.everyMs;
  /** A reset without an answer may have taken effect, so another one follows. */
  let unclear = false;

  /** No other call is in progress meanwhile. */
  async function reset({ admin }: SandboxNow): Promise<void> {
    unclear = true;
    const { status } = await admin.post('/api/settings/sandbox/reset');
    if (status !== 200) return;
    unclear = false;
    load.accepted.clear();
    load.resets += 1;
    conversation = undefined;
    resetAt = load.resets < resets.times ? performance.now() + resets.everyMs : Number.POSITIVE_INFINITY;
  }

  while (!signal.aborted || unclear) {
    const sandbox = now();
    try {
      if (sandbox !== undefined && performance.now() > resetAt) await reset(sandbox);
      conversation ??= await sandbox?.client.createConversation();
      if (sandbox !== undefined && conversation !== undefined)
        await postMessage(load, sandbox.client, conversation);
    } catch {
      // The run was killed in the middle of the call, or is not ready again.
    }
    await sleep(1000 / perSecond);
  }
}

/** The outcome according to the API and the tables. */
export interface SandboxOutcome {
  /** Messages accepted since the last reset, and how many of them lack a terminal delivery to an endpoint. */
  accepted: number;
  lost: number;
  notTerminal: number;
  resets: number;
  /** Rows of earlier generations. */
  oldRowsLeft: number;
}

export async function outcomeOf(
  { webhooks, accepted, resets }: SandboxLoad,
  { client }: SandboxNow,
  rows: readonly Row[],
): Promise<SandboxOutcome> {
  const outcome = {
    accepted: accepted.size,
    lost: 0,
    notTerminal: 0,
    resets,
    oldRowsLeft: countOldRows(rows),
  };
  for (const webhook of webhooks) {
    const deliveries = await client.all(`/api/v1/webhooks/${webhook}/deliveries`, { include: 'request' });
    outcome.notTerminal += deliveries.filter(({ terminalAt }) => terminalAt === null).length;
    const sent = new Set(
      deliveries.flatMap(({ request }) => (request === undefined ? [] : messageIdOf(request))),
    );
    // Deliveries that were skipped because the endpoint is disabled have not been sent.
    const skipped = deliveries.filter(({ request }) => request === undefined).length;
    const missing = [...accepted].filter((message) => !sent.has(message)).length;
    outcome.lost += Math.max(0, missing - skipped);
  }
  return outcome;
}

const messageIdOf = (request: unknown): string => String(JSON.parse(Object(request).body).data.messageId);

/** Every row of a sandbox's data names its generation. */
function countOldRows(rows: readonly Row[]): number {
  const present = new Map(
    rows.filter(({ item }) => item.sk === 'organization').map(({ item }) => [item.pk, item.generation]),
  );
  return rows.filter(({ item: { ofSandbox } }) => {
    const [organization, generation] = String(ofSandbox).split('#');
    return ofSandbox !== undefined && String(present.get(organization)) !== generation;
  }).length;
}
