import { checkReceiverUrl, type ReceiverUrlCheck } from '../domain/receiver-url.ts';
import { checkProgram } from '../domain/simulation.ts';
import { isOfSandbox, type Tenant } from '../domain/tenant.ts';
import { loopbackReceivers } from '../platform/config.ts';

/** Where requests of the service may go, in this place. */
const policy = { loopback: loopbackReceivers() };

/** Whether a tenant may have requests addressed to a URL. In a sandbox it may also say what the simulated receiver does there. */
export function checkReceiver(text: string, tenant: Tenant): ReceiverUrlCheck {
  const receiver = checkReceiverUrl(text, policy);
  if (!receiver.ok || !isOfSandbox(tenant)) return receiver;
  const program = checkProgram(receiver.url);
  return program.ok ? receiver : program;
}
