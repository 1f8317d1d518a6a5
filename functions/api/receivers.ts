import { reachableReceivers } from '../aws/config.ts';
import { isChannelId, type OrgId, type ReceiverId } from '../aws/ids.ts';
import { checkProgram } from '../delivery/simulation.ts';
import { invalid, refusals } from '../http/problem.ts';
import type { Channel } from '../receivers/channels.ts';
import type { Endpoint } from '../receivers/endpoint.ts';
import {
  blockedHostStore,
  blockedHosts,
  checkReceiverUrl,
  type ReceiverUrlCheck,
} from '../receivers/receiver-url.ts';
import { isSandbox, type Tenant } from '../tenancy/tenant.ts';
import { tables } from './route-handler.ts';
import { channels, endpoints } from './stores.ts';

/** Hosts that the operator blocked. */
const hosts = blockedHosts(blockedHostStore(tables.service).all);
const policy = { ...reachableReceivers(), blocks: hosts.blocks };

/** Checks a receiver's URL. In a sandbox the URL may also contain the program of its simulated receiver. */
export async function checkReceiver(text: string, tenant: Tenant): Promise<ReceiverUrlCheck> {
  await hosts.refresh();
  const receiver = checkReceiverUrl(text, policy);
  if (!receiver.ok || !isSandbox(tenant)) return receiver;
  const program = checkProgram(receiver.url);
  return program.ok ? receiver : program;
}

/** The problem of a URL that was refused. */
export const createUrlProblem = ({ ok, problem: fault, ...code }: Extract<ReceiverUrlCheck, { ok: false }>) =>
  invalid({ field: 'url', ...code, message: fault.replace(/^url /, '') });

/** Reads a webhook endpoint or a channel. */
export async function findReceiver(orgId: OrgId, id: ReceiverId) {
  if (isChannelId(id)) return (await channels.find(orgId, id)) ?? refusals.notFound('channel');
  return (await endpoints.find(orgId, id)) ?? refusals.notFound('webhook endpoint');
}

/** Nothing is sent to a web widget. */
export const isSentTo = (receiver: Endpoint | Channel): receiver is Endpoint => 'url' in receiver;

/** Refusals by the status of a receiver. */
export const getInactiveRefusals = (id: ReceiverId) =>
  isChannelId(id) ? refusals.inactiveChannel : refusals.inactiveEndpoint;

/** Names the receiver as the API does: a channel by `channelId`. */
export const nameReceiver = <View extends { webhookId: ReceiverId }>({ webhookId, ...view }: View) =>
  isChannelId(webhookId) ? { ...view, channelId: webhookId } : { ...view, webhookId };

/** Path of something that belongs to a receiver. */
export const buildReceiverPath = (id: ReceiverId, below: string): string =>
  `/api/v1/${isChannelId(id) ? 'channels' : 'webhooks'}/${id}/${below}`;
