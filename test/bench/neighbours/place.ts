import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { mapConcurrently } from '../../../functions/aws/concurrency.ts';
import type { StackContext } from '../../../lib/local-run/start/synthesis.ts';
import type { Service } from '../../support/service.ts';
import { aTenant, type Tenant } from '../../support/tenant.ts';
import { ending } from '../measure/interruption.ts';
import { withService } from '../measure/service.ts';
import { type Client, startClient } from './client.ts';

export const HONEST = 10;
/** Concurrent calls of a set-up. */
export const AT_ONCE = 8;

/** The service with its organizations, and the processes that act for them. */
export interface Place {
  service: Service;
  honest: readonly Tenant[];
  hostile: Tenant;
  /** Acts for all honest organizations. */
  client: Client;
  hostileClient: Client;
  /** Endpoints and pages by path (path-server.ts). */
  pathServer: { url(path: string): string; setRecovered(value: boolean): void };
}

/**
 * Starts the service with ten honest organizations and a hostile one, all of the tier `standard`, each with
 * an admin.
 */
export const withPlace = <R>(context: StackContext, use: (place: Place) => Promise<R>): Promise<R> =>
  withService(
    async ({ service }) =>
      ending(
        new AsyncDisposableStack(),
        async (started) => started.disposeAsync(),
        async (started) => {
          const enrol = async () =>
            started.adopt(await aTenant(service, { tier: 'standard' }), ({ close }) => close());
          const honest = await mapConcurrently([...Array(HONEST).keys()], AT_ONCE, enrol);
          const startOne = async () => started.adopt(await startClient(service), (one) => one.close());
          const pathServer = started.adopt(await startServerProcess(service.tls), (one) => one.stop());
          const clients = { client: await startOne(), hostileClient: await startOne() };
          return use({ service, honest, hostile: await enrol(), ...clients, pathServer });
        },
      ),
    context,
  );

async function startServerProcess({ cert, key }: Service['tls']) {
  const child = fork(join(import.meta.dirname, 'path-server-process.ts'), { execArgv: [] });
  const exited = once(child, 'exit');
  child.send({ cert, key });
  const [port] = await once(child, 'message');
  return {
    url: (path: string) => `https://localhost:${port}${path}`,
    setRecovered: (value: boolean) => void child.send(value),
    async stop() {
      if (child.connected) child.disconnect();
      await exited;
    },
  };
}
