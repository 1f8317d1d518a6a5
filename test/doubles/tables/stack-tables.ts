import type { Table } from '../../../functions/store/table.ts';
import { TABLE_DEFINITIONS, type TableName } from '../../table-definitions.ts';
import { MemoryTables } from './memory-tables.ts';

/** The stack's tables, empty. */
export function memoryTables(): Record<TableName, Table> {
  const tables = new MemoryTables(TABLE_DEFINITIONS);
  const client = tables.client();
  const names = Object.keys(TABLE_DEFINITIONS) as TableName[];
  return Object.fromEntries(names.map((name) => [name, tables.table(name, client)])) as Record<
    TableName,
    Table
  >;
}
