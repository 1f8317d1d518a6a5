import { afterAll, beforeAll, expect } from 'vitest';
import { conformance } from '../../../fuzz/conformance.ts';
import type { Document } from '../../../fuzz/document.ts';
import { linesWithCredentials } from '../../../support/canaries.ts';
import { type Connection, connect, type Exchange } from '../../../support/exchange.ts';
import { type Service, startService } from '../../../support/service.ts';
import { aSandbox, aTenant, type Tenant } from '../../../support/tenant.ts';

/** The service that all suites of the public API share: starting one takes longer than most of them. */
export interface Place {
  service(): Service;
  /** As many connections as a test has requests under way at once. */
  connection(): Connection;
  /** What functions have logged, at the level that says most. */
  log(): readonly { source: string; text: string }[];
  /** A new organization, until the tests are over. */
  tenant(terms?: Parameters<Service['enrol']>[0]): Promise<Tenant>;
  /** The sandbox of an organization with a new key, until the tests are over. */
  sandbox(of: Tenant): Promise<Tenant>;
  /** In which ways an answer is not what the document promises. */
  faults(exchange: Exchange): string[];
}

export function aPlace(document: Document): Place {
  let started: { service: Service; connection: Connection } | undefined;
  const tenants: Tenant[] = [];
  const log: { source: string; text: string }[] = [];
  const running = () => {
    if (started === undefined) throw new Error('the service runs only while the tests do');
    return started;
  };

  beforeAll(async () => {
    const service = await startService({
      variables: { POWERTOOLS_LOG_LEVEL: 'DEBUG' },
      onLog: (line) => log.push(line),
    });
    started = { service, connection: connect(service.url, 100) };
  }, 120_000);

  afterAll(async () => {
    for (const tenant of tenants) tenant.close();
    started?.connection.close();
    await started?.service.stop();
    // Of all that the tests did, whatever it was.
    expect(linesWithCredentials(log.map(({ text }) => text)).slice(0, 5)).toEqual([]);
  });

  const kept = (tenant: Tenant): Tenant => {
    tenants.push(tenant);
    return tenant;
  };

  return {
    service: () => running().service,
    connection: () => running().connection,
    log: () => log,
    faults: conformance(document),
    tenant: async (terms) => kept(await aTenant(running().service, terms)),
    sandbox: async (of) => kept(await aSandbox(running().service, of)),
  };
}
