import { setTimeout as sleep } from 'node:timers/promises';
import { until } from 'aws-local/test/until.ts';
import type { DeliveryKind, Work } from '../../../lib/cost/measured.ts';
import { aTenant, type Tenant } from '../../support/tenant.ts';
import type { Behaviour, Receivers } from './receivers.ts';
import { minus, NOTHING, ofFunction, type Tallies, type Tally, times } from './tally.ts';
import type { WatchedRun } from './watched-run.ts';

/** An organization with one conversation and its endpoints. */
export interface Sender {
  tenant: Tenant;
  /** Records a message, which is an event for each endpoint. */
  post(withKey?: boolean): Promise<void>;
  /** Ids of its endpoints. */
  endpoints: readonly string[];
}

/** Text of the messages. */
export const CONTENT = 'A message of some length, as people write them. '.repeat(4);

/**
 * @param behaviours of its endpoints' receivers
 * @param settings of its endpoints
 */
export async function aSender(
  { service }: WatchedRun,
  receivers: Receivers,
  behaviours: readonly Behaviour[],
  settings: { maxPerSecond?: number } = {},
): Promise<Sender> {
  const tenant = await aTenant(service);
  const endpoints = [];
  for (const behaviour of behaviours)
    endpoints.push((await tenant.api.register(receivers.add(behaviour), ['message.received'])).id);
  if (Object.keys(settings).length > 0)
    for (const id of endpoints)
      await tenant.api.call({ method: 'PATCH', path: `/api/v1/webhooks/${id}`, body: settings });
  const path = `/api/v1/conversations/${await tenant.api.createConversation()}/messages`;
  const body = { role: 'user', content: CONTENT };
  return {
    tenant,
    endpoints,
    async post(withKey = true) {
      const call = withKey ? tenant.api.post(path, body) : tenant.api.call({ method: 'POST', path, body });
      const { status } = await call;
      if (status !== 201) throw new Error(`a message was answered ${status}`);
    },
  };
}

/** Waits until all deliveries of an organization's endpoints have ended. */
export async function allEnded({ tenant, endpoints }: Sender, count: number): Promise<void> {
  await until(
    `${count} deliveries to ${endpoints.length} endpoints to end`,
    async () => {
      const ended = await endsOf(tenant, endpoints);
      return ended >= count * endpoints.length;
    },
    120_000,
    500,
  );
}

async function endsOf(tenant: Tenant, endpoints: readonly string[]): Promise<number> {
  const all = await Promise.all(endpoints.map((id) => tenant.api.all(`/api/v1/webhooks/${id}/deliveries`)));
  return all.flat().filter(({ terminalAt }) => terminalAt !== null).length;
}

/** One message after the other, so that each is a batch of its own. */
export async function oneByOne(sender: Sender, count: number, withKey = true): Promise<void> {
  for (let number = 0; number < count; number += 1) {
    await sender.post(withKey);
    await sleep(150);
  }
}

export const atOnce = (sender: Sender, count: number): Promise<unknown> =>
  Promise.all(Array.from({ length: count }, () => sender.post()));

/** The cost of each delivery of one kind in a function, without the cost of its batches. */
export function eachOf(tallies: Tallies, fn: string, perBatch: Work, deliveries: number): Tally {
  const tally = ofFunction(tallies, fn);
  return times(minus(tally, times({ ...NOTHING, ...perBatch }, tally.invocations)), 1 / deliveries);
}

/** The measurements of a kind of failure. */
export interface FailureKind {
  kind: Exclude<DeliveryKind, 'succeeded'>;
  behaviour: Behaviour;
  deliveries: number;
}

/** An endpoint is disabled after ten exhausted deliveries in a row, which is not measured here. */
export const FAILURES: readonly FailureKind[] = [
  { kind: 'retried', behaviour: [500, 204], deliveries: 10 },
  { kind: 'exhausted', behaviour: [500], deliveries: 5 },
  { kind: 'skipped', behaviour: [500], deliveries: 5 },
  { kind: 'timedOut', behaviour: ['hang'], deliveries: 4 },
];
