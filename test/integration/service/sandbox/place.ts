import { afterAll, beforeAll } from 'vitest';
import { type Connection, connect } from '../../../support/exchange.ts';
import { type Service, type ServiceOptions, startService } from '../../../support/service.ts';
import { aSandbox, aTenant, type Tenant } from '../../../support/tenant.ts';

/** A live organization with its sandbox. */
export interface Pair {
  live: Tenant;
  sandbox: Tenant;
}

/** The service of a file's tests: starting one takes longer than most of them. */
export interface Place {
  service(): Service;
  connection(): Connection;
  /** A new organization without a sandbox, until the tests are over. */
  tenant(): Promise<Tenant>;
  /** One with a sandbox. */
  pair(): Promise<Pair>;
  /** Something to be ended before the service. */
  keep<Started extends { stop(): Promise<void> }>(started: Started): Started;
}

/** More calls than any test makes in a minute: no tier may have more than the one above it. */
const UNLIMITED = { rateLimitSandbox: 1_000_000, rateLimitStandard: 1_000_000, rateLimitScale: 1_000_000 };

export function aPlace(options: () => ServiceOptions): Place {
  let started: { service: Service; connection: Connection } | undefined;
  const ends: (() => void | Promise<void>)[] = [];
  const running = () => {
    if (started === undefined) throw new Error('the service runs only while the tests do');
    return started;
  };

  async function tenant(): Promise<Tenant> {
    const live = await aTenant(running().service);
    ends.push(live.close);
    return live;
  }

  beforeAll(async () => {
    const { context, variables } = options();
    const service = await startService({ context: { ...UNLIMITED, ...context }, variables });
    started = { service, connection: connect(service.url, 100) };
  }, 120_000);

  afterAll(async () => {
    for (const end of ends) await end();
    started?.connection.close();
    await started?.service.stop();
  });

  return {
    service: () => running().service,
    connection: () => running().connection,
    tenant,
    async pair() {
      const live = await tenant();
      const sandbox = await aSandbox(running().service, live);
      ends.push(sandbox.close);
      return { live, sandbox };
    },
    keep(it) {
      ends.push(() => it.stop());
      return it;
    },
  };
}
