import type { Notice } from '../../../functions/domain/bus.ts';
import type { Source, SourceRef } from '../../../functions/domain/source.ts';
import type { Tenant } from '../../../functions/domain/tenant.ts';
import type { CheckSourcePorts } from '../../../functions/engine/check-source.ts';
import type { ScheduleSourceChecksPorts } from '../../../functions/engine/schedule-source-checks.ts';
import { keys } from '../../../functions/store/keys.ts';
import { sourceChecks } from '../../../functions/store/source-checks.ts';
import { dueSources, sourceStore } from '../../../functions/store/sources.ts';
import { committer } from '../../../functions/store/transaction.ts';
import { MemorySources } from '../../doubles/memory-sources.ts';
import { dynamoDb, type TestTables } from '../../engines.ts';
import { rowsIn } from './rows.ts';

/** Seconds between two syncs of one source. */
export const COOLDOWN_SECONDS = 60;

/** The stores behind the engine's ports, of either kind. */
export interface SourceStores {
  checks: CheckSourcePorts['sources'];
  due: ScheduleSourceChecksPorts['due'];
  add(source: Source): Promise<string>;
  remove(tenant: Tenant, id: Source['id']): Promise<string>;
  sync(tenant: Tenant, id: Source['id'], now: Date): Promise<string>;
  find(tenant: Tenant, id: Source['id']): Promise<Source | undefined>;
  notified(tenant: Tenant, id: Source['id'], version: number, at: Date): Promise<void>;
  announceLater(tenant: Tenant, id: Source['id'], at: Date): Promise<void>;
  /** Version numbers of the stored texts of a source, which may be gone. */
  versionsOf(ref: SourceRef): Promise<number[]>;
  notices(): Promise<Pick<Notice, 'id' | 'type' | 'data'>[]>;
}

/** Both kinds of stores, new for each test. */
export function sourceStoreKinds(engine = dynamoDb()): [name: string, make: () => Promise<SourceStores>][] {
  return [
    ['memory', async () => memoryStores()],
    ['dynamodb', async () => dynamoDbStores(await engine.tables())],
  ];
}

function memoryStores(): SourceStores {
  const sources = new MemorySources({ sharded: true });
  return {
    checks: sources,
    due: sources.due,
    add: (source) => sources.add(source),
    remove: (tenant, id) => sources.remove(tenant, id),
    sync: (tenant, id, now) => sources.sync(tenant, id, { now, cooldownSeconds: COOLDOWN_SECONDS }),
    find: (tenant, id) => sources.find(tenant, id),
    notified: (...told) => sources.notified(...told),
    announceLater: (...asked) => sources.announceLater(...asked),
    versionsOf: async (ref) => sources.versionsOf(ref),
    notices: async () => sources.notices,
  };
}

function dynamoDbStores({ knowledge, outbox }: TestTables): SourceStores {
  const commit = committer(knowledge.client);
  const store = sourceStore(knowledge);
  return {
    checks: sourceChecks(knowledge, outbox, commit),
    due: dueSources(knowledge),
    async add(source) {
      const result = await commit(store.add(source));
      return result.kind === 'committed' ? 'added' : result.refusal;
    },
    async remove(tenant, id) {
      const result = await commit(store.remove(tenant, id));
      return result.kind === 'committed' ? 'removed' : result.refusal;
    },
    async sync(tenant, id, now) {
      const result = await commit([store.sync(tenant, id, { now, cooldownSeconds: COOLDOWN_SECONDS })]);
      return result.kind === 'committed' ? result.kind : result.refusal;
    },
    find: store.find,
    notified: store.notified,
    announceLater: store.announceLater,
    async versionsOf(ref) {
      const partition = keys.versions(ref, ref.id);
      const found = (await rowsIn(knowledge)).filter(({ pk }) => pk === partition);
      return [...new Set(found.map(({ sk }) => Number(String(sk).split('#')[0])))].toSorted((a, b) => a - b);
    },
    async notices() {
      return (await rowsIn(outbox)).map(({ id, type, data }) => ({ id, type, data }) as Notice);
    },
  };
}
