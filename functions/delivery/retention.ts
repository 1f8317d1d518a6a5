import { mapConcurrently } from '../aws/concurrency.ts';
import type { Log } from '../aws/log-codes.ts';
import type { Table } from '../aws/table.ts';
import { committer } from '../aws/transaction.ts';
import { conversationStore } from '../conversations/conversations.ts';
import { createErasure, describeErasure, ERASED_AT_ONCE } from '../conversations/erasures.ts';
import { createAuditEntry, recordAuditEntry, type SetupChange } from '../tenancy/audit.ts';
import { type Retention, retentionStore } from '../tenancy/organizations.ts';
import { processInRounds, sweep } from '../tenancy/sweep.ts';
import { LIVE_GENERATION } from '../tenancy/tenant.ts';
import { erasing } from './erasure.ts';

/** Organizations in one round. */
const AT_ONCE = 4;
/** Erasures of a run, so that the purge keeps up: 1,000 conversations a minute. */
const MOST = 100;
const MS_PER_DAY = 86_400_000;

/** An organization, and the conversation after which its next turn begins. */
type Work = { retention: Retention; after?: string };

/**
 * Erases conversations whose last message is older than their organization's `retentionDays`, some in each
 * turn of an organization, once a day when none is left. A run can end anywhere, and the next one continues.
 */
export function applyRetention(
  { service, outbox }: Record<'service' | 'outbox', Table>,
  { log, now }: { log: Log; now: () => Date },
) {
  const retentions = retentionStore(service);
  const conversations = conversationStore(service);
  const commit = committer(service.client);
  const buildErasure = erasing({ service, outbox });

  /** @returns where the next turn continues; undefined at the end */
  async function eraseSome({ retention, after }: Work): Promise<Work | undefined> {
    const { orgId, retentionDays } = retention;
    const tenant = { orgId, generation: LIVE_GENERATION };
    const updatedBefore = new Date(now().getTime() - retentionDays * MS_PER_DAY);
    const page = { limit: ERASED_AT_ONCE, after };
    const { items, next } = await conversations.list(tenant, page, { updatedBefore });
    const rest = next === undefined ? undefined : { retention, after: next };
    if (items.length === 0) return rest;
    // Read anew, because followers expect the event soon after the time of its id.
    const at = now();
    const erasure = createErasure('retention', items, at);
    const entry: SetupChange = {
      ...{ orgId, action: 'erasure.created', targetId: erasure.id, requestId: undefined },
      changes: describeErasure(erasure),
    };
    // Refused when one of them was changed: the next day's turn reads it again.
    await commit([
      ...buildErasure(erasure, items, { tenant, now: at }),
      recordAuditEntry(service, createAuditEntry(entry, { type: 'service' }, at)),
    ]);
    return rest;
  }

  return async (hasTime: () => boolean): Promise<void> => {
    let left = MOST;
    async function handle(work: Work): Promise<Work[]> {
      const { retention } = work;
      try {
        left -= 1;
        const rest = await eraseSome(work);
        // A run that ends early begins at the newest conversation again.
        if (rest !== undefined) return left > 0 ? [rest] : [];
        await retentions.postpone(retention, new Date(now().getTime() + MS_PER_DAY));
      } catch (error) {
        log('RETENTION_FAILED', { orgId: retention.orgId, error });
      }
      return [];
    }
    const takeOrganizations = processInRounds<Work, never>({
      partitions: 1,
      find: async () => ({ entries: (await retentions.due(now())).map((retention) => ({ retention })) }),
      getOrganization: ({ retention }) => retention.orgId,
      handle: async (entries) => (await mapConcurrently(entries, AT_ONCE, handle)).flat(),
      logUnread: (_, error) => log('RETENTION_FAILED', { error }),
      perRound: AT_ONCE,
    });
    await sweep([takeOrganizations], { now: now(), hasTime, log });
  };
}
