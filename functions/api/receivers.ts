import { reachableReceivers } from '../aws/config.ts';
import { checkProgram } from '../delivery/simulation.ts';
import { invalid } from '../http/problem.ts';
import {
  blockedHostStore,
  blockedHosts,
  checkReceiverUrl,
  type ReceiverUrlCheck,
} from '../receivers/receiver-url.ts';
import { isSandbox, type Tenant } from '../tenancy/tenant.ts';
import { tables } from './route-handler.ts';

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
