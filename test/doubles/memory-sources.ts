import type { Table } from '../../functions/aws/table.ts';
import { type Change, committer } from '../../functions/aws/transaction.ts';
import type { Notice } from '../../functions/events/bus.ts';
import { sourceChecks } from '../../functions/knowledge/source-checks.ts';
import { dueSources, type Source, type SourceRef, sourceStore } from '../../functions/knowledge/sources.ts';
import { keys } from '../../functions/tenancy/keys.ts';
import type { Tenant } from '../../functions/tenancy/tenant.ts';
import { rowsIn } from '../contract/store/rows.ts';

/** Seconds between two syncs of one source. */
const COOLDOWN_SECONDS = 60;

/** The stores of sources, with what tests read of their rows. */
export function sourcesIn({ knowledge, outbox }: { knowledge: Table; outbox: Table }) {
  const commit = committer(knowledge.client);
  const store = sourceStore(knowledge);
  async function apply(changes: readonly Change[]): Promise<string> {
    const result = await commit(changes);
    return result.kind === 'committed' ? result.kind : result.refusal;
  }
  return {
    ...store,
    ...sourceChecks(knowledge, outbox, commit),
    due: dueSources(knowledge),
    add: (source: Source) => apply(store.add(source)),
    remove: (tenant: Tenant, id: Source['id']) => apply(store.remove(tenant, id)),
    sync: (tenant: Tenant, id: Source['id'], now: Date) =>
      apply([store.sync(tenant, id, { now, cooldownSeconds: COOLDOWN_SECONDS })]),
    /** Version numbers of the stored texts of a source, which may be gone. */
    async versionsOf(ref: SourceRef): Promise<number[]> {
      const partition = keys.versions(ref, ref.id);
      const parts = (await rowsIn(knowledge)).filter(({ pk }) => pk === partition);
      return [...new Set(parts.map(({ sk }) => Number(String(sk).split('#')[0])))].toSorted((a, b) => a - b);
    },
    /** When a source is due; undefined when there is no such source. */
    async dueAt({ id }: SourceRef): Promise<unknown> {
      return (await rowsIn(knowledge)).find(({ sk }) => sk === id)?.dueAt;
    },
    /** The notices to the service's own workers in settlements, in the order of their rows. */
    async notices(): Promise<Pick<Notice, 'id' | 'type' | 'orgId' | 'generation' | 'data'>[]> {
      return (await rowsIn(outbox)) as unknown as Notice[];
    },
  };
}
export type Sources = ReturnType<typeof sourcesIn>;
