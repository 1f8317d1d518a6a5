import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { tableClient } from './clients.ts';
import { logger } from './logger.ts';
import { UNREADABLE_ROWS } from './metric-names.ts';
import { count } from './metrics.ts';
import type { UnreadableRow } from './table.ts';

/** The variable of the environment that names each table. */
interface Variables {
  service: 'SERVICE_TABLE';
  outbox: 'OUTBOX_TABLE';
  deliveries: 'DELIVERIES_TABLE';
  rates: 'RATE_TABLE';
  ledger: 'LEDGER_TABLE';
  usage: 'USAGE_TABLE';
  knowledge: 'KNOWLEDGE_TABLE';
  mailings: 'MAILINGS_TABLE';
}
type Environment = { readonly [V in Variables[keyof Variables]]?: string };
interface OpenTable {
  readonly client: DynamoDBClient;
  readonly name: string;
  readonly reportUnreadable: typeof reportUnreadable;
}
type Opened<E> = { readonly [T in keyof Variables as Variables[T] extends keyof E ? T : never]: OpenTable };

/**
 * The tables that the environment names, with one client. Roles are derived from this form: each table has a
 * variable of its own (lib/cloud/grants).
 */
export function openTables<E extends Environment>(environment: E, client = tableClient()): Opened<E> {
  const open = (name: string | undefined) =>
    name === undefined ? undefined : { client, name, reportUnreadable };
  const tables: Record<keyof Variables, OpenTable | undefined> = {
    service: open(environment.SERVICE_TABLE),
    outbox: open(environment.OUTBOX_TABLE),
    deliveries: open(environment.DELIVERIES_TABLE),
    rates: open(environment.RATE_TABLE),
    ledger: open(environment.LEDGER_TABLE),
    usage: open(environment.USAGE_TABLE),
    knowledge: open(environment.KNOWLEDGE_TABLE),
    mailings: open(environment.MAILINGS_TABLE),
  };
  return tables as Opened<E>;
}

/** Reports an unreadable row that was left out. */
export function reportUnreadable({ pk, sk, error }: UnreadableRow): void {
  logger.log('ROW_UNREADABLE', { pk, sk, error });
  count(UNREADABLE_ROWS);
}
