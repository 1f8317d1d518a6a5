import { setTimeout as sleep } from 'node:timers/promises';
import type { ApiClient } from '../support/api.ts';
import type { Row } from '../support/tables.ts';
import { type Load, postMessage } from './load.ts';

/**
 * What simulated receivers do, with time ten times as fast: accept, recover, hold up a worker, and fail for
 * good.
 */
const PROGRAMS = [
  'simulate=200',
  'simulate=503,reset,200',
  'simulate=timeout,301,200@700ms',
  'simulate=500&simulate-speed=100',
];

/** The sandbox of the local organization, as the run is now. */
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

/** Registers an endpoint for each program, all of them at the same address, which must be left alone. */
export async function sandboxLoad({ client }: SandboxNow, port: number): Promise<SandboxLoad> {
  const webhooks: string[] = [];
  for (const program of PROGRAMS) {
    const { id } = await client.register(`https://localhost:${port}/?${program}`, ['message.received']);
    webhooks.push(id);
  }
  return { webhooks, accepted: new Set(), others: new Map(), resets: 0 };
}

/**
 * Posts messages to the sandbox until it is told to stop, and wipes it now and then. What was accepted before
 * the last reset is owed nothing.
 * @param now gives the sandbox of the run as it is now, if it runs
 * @param options.resets how often it is wiped
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
  /** A reset was not answered: perhaps it was made. Another one follows, whose answer says that it was. */
  let unclear = false;

  /** Nothing else is under way meanwhile. */
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
      // Killed in the middle of it, or not yet there again.
    }
    await sleep(1000 / perSecond);
  }
}

/** What came of it all, as the API and the tables show it. */
export interface SandboxOutcome {
  /** Accepted since the last reset, and for how many no delivery says of every endpoint what became of it. */
  accepted: number;
  lost: number;
  notTerminal: number;
  resets: number;
  /** Rows of generations that are over. */
  wipedRemains: number;
}

export async function outcomeOf(
  { webhooks, accepted, resets }: SandboxLoad,
  { client }: SandboxNow,
  rows: readonly Row[],
): Promise<SandboxOutcome> {
  const outcome = { accepted: accepted.size, lost: 0, notTerminal: 0, resets, wipedRemains: wipedIn(rows) };
  for (const webhook of webhooks) {
    const deliveries = await client.all(`/api/v1/webhooks/${webhook}/deliveries`, { include: 'request' });
    outcome.notTerminal += deliveries.filter(({ terminalAt }) => terminalAt === null).length;
    const sent = new Set(
      deliveries.flatMap(({ request }) => (request === undefined ? [] : messageIdOf(request))),
    );
    // What is skipped, because the endpoint is disabled, was sent to nobody.
    const skipped = deliveries.filter(({ request }) => request === undefined).length;
    const missing = [...accepted].filter((message) => !sent.has(message)).length;
    outcome.lost += Math.max(0, missing - skipped);
  }
  return outcome;
}

const messageIdOf = (request: unknown): string => String(JSON.parse(Object(request).body).data.messageId);

/** Every row of a sandbox's data says which generation it is of. */
function wipedIn(rows: readonly Row[]): number {
  const present = new Map(
    rows.filter(({ item }) => item.sk === 'organization').map(({ item }) => [item.pk, item.generation]),
  );
  return rows.filter(({ item: { ofSandbox } }) => {
    const [organization, generation] = String(ofSandbox).split('#');
    return ofSandbox !== undefined && String(present.get(organization)) !== generation;
  }).length;
}
