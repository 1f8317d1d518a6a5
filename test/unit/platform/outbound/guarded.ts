import { onTestFinished } from 'vitest';
import { nameServerResolver } from '../../../../functions/platform/outbound/agent.ts';
import { outboundClient } from '../../../../functions/platform/outbound/client.ts';
import { observedConnections } from './connections-observed.ts';
import { nameServer, type Zone } from './name-server.ts';
import { authority, type Receiver } from './receivers.ts';

/**
 * The client as deployed, which reaches no address of this machine, with the test's name server and
 * certificates; returns its connections as well.
 */
export async function guardedClient(zone: Zone, receiver: Receiver, now?: () => number) {
  const server = await nameServer(zone);
  const attempts = await observedConnections(receiver);
  const client = outboundClient({
    policy: { loopback: 'refuse' },
    timeoutMs: 20_000,
    resolve: nameServerResolver([server.address]),
    tls: { ca: authority.cert },
    ...(now && { now }),
  });
  onTestFinished(() => client.close());
  return { server, attempts, client };
}
