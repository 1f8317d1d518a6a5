import { all, assign, attribute, type Expression, expression } from './expression.ts';
import {
  buildWrite,
  type Condition,
  EXISTS,
  IS_NEW,
  type Key,
  type Row,
  type RowChange,
  type Table,
  type TransactionWrite,
  transact,
} from './table.ts';

/** Reasons of refused changes, one per write condition. */
export type Refusal =
  | 'idempotency-key-used'
  | 'api-key-missing'
  | 'organization-changed'
  | 'endpoint-limit'
  | 'endpoint-host-limit'
  | 'endpoint-missing'
  | 'endpoint-changed'
  | 'channel-limit'
  | 'channel-missing'
  | 'conversation-changed'
  | 'ticket-missing'
  | 'source-limit'
  | 'source-missing'
  | 'source-synced'
  | 'lease-lost'
  | 'delivery-changed'
  | 'redelivery-running'
  | 'redelivery-over'
  | 'redelivery-overtaken'
  | 'sandbox-exists'
  | 'generation-over'
  | 'mail-decided'
  | 'mail-budget'
  | 'mail-ceiling'
  | 'exists';

export { Contended } from './table.ts';

interface Refused {
  /** Reason when the write's condition fails. */
  readonly refusal: Refusal;
}
interface Guard extends Condition, Refused {}
export interface Change extends TransactionWrite, Refused {}
export type CommitResult = { kind: 'committed' } | { kind: 'refused'; refusal: Refusal };
export type Commit = (changes: readonly Change[]) => Promise<CommitResult>;

/** @param wait between tries, as for `transact` */
export const committer =
  (client: Table['client'], wait?: (attempt: number) => Promise<unknown>): Commit =>
  async (changes) => {
    const refused = await transact(client, changes, wait);
    return refused === undefined ? { kind: 'committed' } : { kind: 'refused', refusal: refused.refusal };
  };

/** Changes name their table only: the client is the transaction's. */
type Named = Pick<Table, 'name'>;

/** Adds or replaces a row. */
export const buildPut = (table: Named, row: Row, { refusal, ...condition }: Guard): Change => ({
  refusal,
  write: { Put: buildWrite(table, { Item: row }, condition) },
});

export const buildUpdate = (table: Named, key: Key, { refusal, ...change }: RowChange & Refused): Change => ({
  refusal,
  write: { Update: buildWrite(table, { Key: key }, change) },
});

export const buildDelete = (table: Named, key: Key, { refusal, ...condition }: Guard): Change => ({
  refusal,
  write: { Delete: buildWrite(table, { Key: key }, condition) },
});

/** Changes nothing, on a condition. */
export const buildCheck = (table: Named, key: Key, { refusal, ...condition }: Guard): Change => ({
  refusal,
  write: { ConditionCheck: buildWrite(table, { Key: key }, condition) },
});

/** Adds an item under an unused key. */
export const buildAddition = (table: Named, item: Row): Change =>
  buildPut(table, item, { refusal: 'exists', if: IS_NEW });

/** A row that counts items of one kind and enforces their limit. */
export interface Counter {
  key: Key;
  /** Attribute with the number. */
  things: string;
  limit: number;
  /** Refusal at the limit, and at zero. */
  refusals: { full: Refusal; missing: Refusal };
  /** Further attributes of the row, such as the mark of a sandbox. */
  marks?: Readonly<Record<string, string>>;
}

/** Increases a count, in the transaction that adds the item. */
export const increaseCount = (service: Named, counter: Counter): Change => {
  const { key, things, limit, refusals, marks = {} } = counter;
  const count = attribute(things);
  const addition = expression`ADD ${count} ${1}`;
  return buildUpdate(service, key, {
    refusal: refusals.full,
    update: Object.keys(marks).length === 0 ? addition : expression`SET ${assign(marks)} ${addition}`,
    if: expression`attribute_not_exists(${count}) OR ${count} < ${limit}`,
  });
};

/** Decreases a count, in the transaction that removes the item. */
export const decreaseCount = (service: Named, { key, things, refusals }: Counter): Change =>
  buildUpdate(service, key, {
    refusal: refusals.missing,
    update: expression`ADD ${attribute(things)} ${-1}`,
    if: expression`${attribute(things)} > ${0}`,
  });

/**
 * Decreases a count, and deletes its row at zero.
 * @param left the count as read
 */
export const decreaseOrDeleteCount = (service: Named, counter: Counter, left: number): Change =>
  left > 1
    ? decreaseCount(service, counter)
    : buildDelete(service, counter.key, {
        refusal: counter.refusals.missing,
        if: expression`${attribute(counter.things)} = ${1}`,
      });

/** Deletes a row that must exist and meet the conditions; refused with the counter's `missing` reason. */
export const buildRemoval = (
  service: Named,
  key: Key,
  { missing }: Pick<Counter['refusals'], 'missing'>,
  ...conditions: (Expression | undefined)[]
): Change => buildDelete(service, key, { refusal: missing, if: all(EXISTS, ...conditions) });
