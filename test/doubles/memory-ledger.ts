import type { ReceiverId } from '../../functions/aws/ids.ts';
import type { Table } from '../../functions/aws/table.ts';
import { type LedgerEntry, ledgerStore } from '../../functions/delivery/ledger.ts';
import { rowsIn } from '../contract/store/rows.ts';

/** The ledger's store, with all entries of its table. */
export function ledgerIn(ledger: Table) {
  const store = ledgerStore(ledger);
  return {
    ...store,
    async every(): Promise<LedgerEntry[]> {
      const rows = await rowsIn(ledger);
      const byEndpoint = Map.groupBy(rows, ({ webhookId, generation }) => `${webhookId}#${generation}`);
      const entries = [...byEndpoint.keys()].map((key) => {
        const [webhookId, generation] = key.split('#') as [ReceiverId, string];
        return store.read(webhookId, Number(generation), { first: '0', last: '~' });
      });
      return (await Promise.all(entries)).flat();
    },
  };
}
