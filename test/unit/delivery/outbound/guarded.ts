import { nameServerResolver } from '../../../../functions/delivery/outbound/agent.ts';
import { observedConnections } from './connections-observed.ts';
import { nameServer, type Zone } from './name-server.ts';
import { aClient, type Receiver } from './receivers.ts';

/**
 * The client as deployed, which reaches no address of this machine, with the test's name server and
 * certificates; returns its connections as well.
 */
export async function guardedClient(zone: Zone, receiver: Receiver, now?: () => number) {
  const server = await nameServer(zone);
  const attempts = await observedConnections(receiver);
  const client = aClient({
    policy: { loopback: 'refuse' },
    resolve: nameServerResolver([server.address]),
    ...(now && { now }),
  });
  return { server, attempts, client };
}
