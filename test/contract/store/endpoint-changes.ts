import type { OrgId, ReceiverId } from '../../../functions/aws/ids.ts';
import type { Table } from '../../../functions/aws/table.ts';
import { type CommitResult, committer } from '../../../functions/aws/transaction.ts';
import type { Endpoint } from '../../../functions/receivers/endpoint.ts';
import { endpointStore } from '../../../functions/receivers/endpoints.ts';

/** A change fails only when another one has succeeded. */
const ATTEMPTS = 20;
const SETTINGS = ['url', 'events'];

/** The store of endpoints with their updates and removals as routes make them, without audit log entries. */
export function changingEndpoints(service: Table) {
  const store = endpointStore(service);
  const commit = committer(service.client);
  return {
    ...store,

    /** @returns undefined when it does not exist; `full` when its new host is at the limit */
    async update(
      orgId: OrgId,
      id: ReceiverId,
      settings: Partial<Pick<Endpoint, 'url' | 'events'>>,
    ): Promise<Endpoint | 'full' | undefined> {
      for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
        const stored = await store.findToChange(orgId, id);
        if (stored === undefined) return undefined;
        const result = await commit(store.buildUpdate(stored, settings));
        if (result.kind === 'committed') return store.find(orgId, id);
        if (result.refusal === 'endpoint-host-limit') return 'full';
      }
      throw new Error(`${id} always changed while it was updated`);
    },

    async remove(orgId: OrgId, id: ReceiverId, now: Date): Promise<CommitResult> {
      for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
        const stored = await store.findToChange(orgId, id);
        if (stored === undefined) return { kind: 'refused', refusal: 'endpoint-missing' };
        const result = await commit(store.buildRemoval(stored, SETTINGS, now));
        if (result.kind === 'committed') return result;
      }
      throw new Error(`${id} always changed while it was removed`);
    },
  };
}
