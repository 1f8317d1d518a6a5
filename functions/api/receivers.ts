import { blockedHosts } from '../domain/blocked-hosts.ts';
import { MAX_ENDPOINTS_PER_HOST } from '../domain/endpoint.ts';
import { type Problem, problem } from '../domain/problem.ts';
import { checkReceiverUrl, type ReceiverUrlCheck } from '../domain/receiver-url.ts';
import { checkProgram } from '../domain/simulation.ts';
import { isSandbox, type Tenant } from '../domain/tenant.ts';
import { loopbackReceivers } from '../platform/config.ts';
import { blockedHostStore } from '../store/blocked-hosts.ts';
import { tables } from './route-handler.ts';

/** Where requests of the service may go, in this place. */
const hosts = blockedHosts(blockedHostStore(tables.service).all);
const policy = { loopback: loopbackReceivers(), blocks: hosts.blocks };

/**
 * Whether a tenant may have requests addressed to a URL. In a sandbox it may also say what the simulated
 * receiver does there.
 */
export async function checkReceiver(text: string, tenant: Tenant): Promise<ReceiverUrlCheck> {
  await hosts.refresh();
  const receiver = checkReceiverUrl(text, policy);
  if (!receiver.ok || !isSandbox(tenant)) return receiver;
  const program = checkProgram(receiver.url);
  return program.ok ? receiver : program;
}

/** The answer to one more endpoint at a host. */
export const createHostLimitProblem = (): Problem =>
  problem(
    'LIMIT_EXCEEDED',
    `An organization may have ${MAX_ENDPOINTS_PER_HOST} webhook endpoints at one host, disabled ones included. Delete one there first, or subscribe one endpoint to several events.`,
  );
