import type { Table } from '../../../functions/aws/table.ts';
import { TABLE_DEFINITIONS, type TableName } from '../../table-definitions.ts';
import { MemoryTables } from './memory-tables.ts';

type StackTables = Record<TableName, Table>;
type Interceptor = Parameters<MemoryTables['client']>[0];

/** The stack's tables, empty. */
export const memoryTables = (): StackTables => sharedMemoryTables()();

/** The stack's tables, empty. @returns a function for further clients of the same tables */
export function sharedMemoryTables(): (pass?: Interceptor) => StackTables {
  const tables = new MemoryTables(TABLE_DEFINITIONS);
  const names = Object.keys(TABLE_DEFINITIONS) as TableName[];
  return (pass) => {
    const client = tables.client(pass);
    return Object.fromEntries(names.map((name) => [name, tables.table(name, client)])) as StackTables;
  };
}
