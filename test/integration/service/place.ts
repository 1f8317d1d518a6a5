import { PATIENCE } from 'aws-local/test/patience.ts';
import { afterAll, beforeAll } from 'vitest';
import { type Connection, connect } from '../../support/exchange.ts';
import {
  type Service,
  type ServiceOptions,
  type StartedService,
  startService,
} from '../../support/service.ts';
import { aSandbox, aTenant, type Tenant } from '../../support/tenant.ts';
import { connectStack, type LogLine } from './stacks/stack.ts';

/** A live organization with its sandbox. */
export interface Pair {
  live: Tenant;
  sandbox: Tenant;
}

/** The service that the tests of a file use. */
export interface Place<Running extends Service = Service> {
  service(): Running;
  /** As many connections as a test has requests in progress at once. */
  connection(): Connection;
  /** The log lines of the functions, also of those that other files have called. */
  log(): readonly LogLine[];
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

/** The shared stack, or one of the file's own. @param options called when the tests begin */
export function aPlace(): Place;
export function aPlace(options: ServiceOptions | (() => ServiceOptions)): Place<StartedService>;
export function aPlace(options?: ServiceOptions | (() => ServiceOptions)): Place {
  let started: { service: Service; connection: Connection; log(): readonly LogLine[] } | undefined;
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
    const { service, log } = await (options === undefined ? connectStack() : startStack(options));
    started = { service, log, connection: connect(service.url, 100) };
  }, 180_000 * PATIENCE);

  afterAll(async () => {
    for (const it of kept) await ('stop' in it ? it.stop() : it.close());
    started?.connection.close();
    await started?.service.stop();
  });

  const place: Place = {
    service: () => running().service,
    connection: () => running().connection,
    log: () => running().log(),
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

async function startStack(options: ServiceOptions | (() => ServiceOptions)) {
  const lines: LogLine[] = [];
  const given = typeof options === 'function' ? options() : options;
  return {
    service: await startService({ ...given, onLog: (line) => lines.push(line) }),
    log: () => lines,
  };
}
