import { afterAll, beforeAll } from 'vitest';
import { type Service, type ServiceOptions, startService } from '../../../support/service.ts';

/** The service that suites share, and what they leave behind. */
export interface Place {
  service(): Service;
  /** What functions have logged. */
  log(): readonly { source: string; text: string }[];
  /** Closes it when the tests are over. */
  keep<T extends { close(): unknown }>(it: T): T;
}

export function aPlace(options: ServiceOptions = {}): Place {
  let started: Service | undefined;
  const log: { source: string; text: string }[] = [];
  const kept: { close(): unknown }[] = [];

  beforeAll(async () => {
    started = await startService({ ...options, onLog: (line) => log.push(line) });
  }, 120_000);

  afterAll(async () => {
    for (const it of kept) await it.close();
    await started?.stop();
  });

  return {
    service() {
      if (started === undefined) throw new Error('the service runs only while the tests do');
      return started;
    },
    log: () => log,
    keep(it) {
      kept.push(it);
      return it;
    },
  };
}
