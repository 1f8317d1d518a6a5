import { describe, expect, it } from 'vitest';
import { put, remove } from '../../../functions/aws/table.ts';
import { dynamoDb } from '../../engines.ts';
import { refuseItems } from './faults.ts';
import { BATCHES, type NeededRow } from './worker-batches.ts';

const engine = dynamoDb();

const FAULTS = ['absent', 'unreadable', 'refused'] as const;
type Fault = (typeof FAULTS)[number];

/** Tables of their own, and the operations that break a row of them. */
async function breakableTables() {
  const client = engine.client();
  const tables = await engine.tables(client);
  const refused: NeededRow[] = [];
  refuseItems(client, (table, key) =>
    refused.some(
      (row) =>
        row.table.name === table &&
        row.key.pk === key.pk &&
        (key.sk === undefined || row.key.sk === undefined || row.key.sk === key.sk),
    ),
  );
  return {
    tables,
    async break(row: NeededRow | undefined, fault: Fault): Promise<void> {
      if (row === undefined) throw new Error('there is no such row');
      const { table, key } = row;
      if (fault === 'absent') await remove(table, key);
      if (fault === 'unreadable') await put(table, { ...key, generation: 'broken' });
      if (fault === 'refused') refused.push(row);
    },
  };
}

describe.each(BATCHES)('a batch of ten ($name)', ({ make, absent }) => {
  it.each<[Fault[]]>([[['absent']], [['unreadable']], [['refused']], [[...FAULTS]]])(
    'with a row that is %j processes the other parts at once',
    async (faults) => {
      const { tables, break: breakRow } = await breakableTables();
      const { orgIds, rows, run, done } = await make(tables);
      const broken = new Map<string, Fault>();
      for (const [index, fault] of faults.entries()) {
        await breakRow(rows[index * 3], fault);
        broken.set(String(orgIds[index * 3]), fault);
      }
      const expected = (what: 'again' | 'done') =>
        orgIds.filter((orgId) => {
          const fault = broken.get(orgId);
          if (fault === undefined) return what === 'done';
          return fault === 'absent' ? absent[what] : what === 'again';
        });

      const again = await run();

      expect(new Set(again)).toEqual(new Set(expected('again')));
      expect(new Set(await done())).toEqual(new Set(expected('done')));
    },
  );
});
