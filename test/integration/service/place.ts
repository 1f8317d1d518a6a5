import { afterAll, beforeAll } from 'vitest';
import { type Connection, connect } from '../../support/exchange.ts';
import { type Service, type ServiceOptions, startService } from '../../support/service.ts';
import { aSandbox, aTenant, type Tenant } from '../../support/tenant.ts';

/** Rate limits that no test uses up; no tier may have more than the one above it. */
export const UNLIMITED = {
  rateLimitSandbox: 1_000_000,
  rateLimitStandard: 1_000_000,
  rateLimitScale: 1_000_000,
};

/** A live organization with its sandbox. */
export interface Pair {
  live: Tenant;
  sandbox: Tenant;
}

/**
 * The service that the suites of a file share, because a start takes longer than most tests. Each test uses
 * organizations of its own.
 */
export interface Place {
  service(): Service;
  /** As many connections as a test has requests in progress at once. */
  connection(): Connection;
  /** The log lines of the functions. */
  log(): readonly { source: string; text: string }[];
  /** A new organization, deleted after the tests. */
  tenant(terms?: Parameters<Service['enrol']>[0]): Promise<Tenant>;
  /** The sandbox of an organization with a new key, deleted after the tests. */
  sandbox(of: Tenant): Promise<Tenant>;
  /** A new organization with its sandbox. */
  pair(): Promise<Pair>;
  /** Closes something after the tests, before the service. */
  keep<T extends Ended>(it: T): T;
}
type Ended = { close(): unknown } | { stop(): Promise<void> };

/** @param options called when the tests begin, for options that depend on another hook */
export function aPlace(options: ServiceOptions | (() => ServiceOptions) = {}): Place {
  let started: { service: Service; connection: Connection } | undefined;
  const log: { source: string; text: string }[] = [];
  const kept: Ended[] = [];
  const running = () => {
    if (started === undefined) throw new Error('the service runs only while the tests do');
    return started;
  };
  const keep = <T extends Ended>(it: T): T => {
    kept.push(it);
    return it;
  };

  beforeAll(async () => {
    const given = typeof options === 'function' ? options() : options;
    const service = await startService({ ...given, onLog: (line) => log.push(line) });
    started = { service, connection: connect(service.url, 100) };
  }, 120_000);

  afterAll(async () => {
    for (const it of kept) await ('stop' in it ? it.stop() : it.close());
    started?.connection.close();
    await started?.service.stop();
  });

  const place: Place = {
    service: () => running().service,
    connection: () => running().connection,
    log: () => log,
    tenant: async (terms) => keep(await aTenant(running().service, terms)),
    sandbox: async (of) => keep(await aSandbox(running().service, of)),
    async pair() {
      const live = await place.tenant();
      return { live, sandbox: await place.sandbox(live) };
    },
    keep,
  };
  return place;
}
