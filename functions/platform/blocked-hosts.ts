import { BLOCKED_HOSTS_FRESH_SECONDS, type BlockedHost, isBlocked } from '../domain/blocked-hosts.ts';

const FRESH_MS = BLOCKED_HOSTS_FRESH_SECONDS * 1000;
/** After a read that failed, the known list serves for this long before it is read again. */
const RETRY_MS = 5000;

export interface BlockedHosts {
  /**
   * Reads the list unless it was read in the last 30 seconds. When it cannot be read again, the last known
   * list stays in force.
   * @throws whatever the first read throws: nothing is sent before the list is known
   */
  refresh(): Promise<void>;
  /** Whether the list has a host or a name above it; everything is blocked before the list is known. */
  blocks(host: string): boolean;
}

/** The hosts that the operator has blocked, as an instance knows them. */
export function blockedHosts(
  load: () => Promise<readonly Pick<BlockedHost, 'host'>[]>,
  now = Date.now,
): BlockedHosts {
  let known: ReadonlySet<string> | undefined;
  let freshUntil = Number.NEGATIVE_INFINITY;
  let reading: Promise<void> | undefined;

  async function read(): Promise<void> {
    // From before the read: what is blocked while it runs may not be in its answer.
    const startedAt = now();
    try {
      known = new Set((await load()).map(({ host }) => host));
      freshUntil = startedAt + FRESH_MS;
    } catch (error) {
      if (known === undefined) throw error;
      freshUntil = startedAt + RETRY_MS;
    }
  }

  return {
    async refresh() {
      if (now() < freshUntil) return;
      reading ??= read().finally(() => {
        reading = undefined;
      });
      await reading;
    },
    blocks: (host) => known === undefined || isBlocked(host, known),
  };
}
