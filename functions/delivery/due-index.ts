import { assign, attributes, expression, unchanged } from '../aws/expression.ts';
import { parseReadable, query, type Row, type Table, type UnreadableRow } from '../aws/table.ts';
import { DUE_END, DUE_INDEX, type DueState, keys } from '../tenancy/keys.ts';
import { DeliveryMessage, type DueRef } from './delivery.ts';
import { buildOpenUpdate, buildPlace, buildSkipUpdate, updateDelivery } from './rows.ts';

/**
 * `dueAt`: a parked delivery's next attempt, or the time from which a watched delivery's message counts as
 * lost.
 */
export interface DueEntry {
  message: DeliveryMessage;
  state: DueState;
  dueAt: string;
  /**
   * Its message was deferred at the last check. A deferred delivery does not expire before its message was
   * resent.
   */
  isDeferred?: true;
}

/** Why an entry moves: its message was resent, or deferred while a queue has a long backlog. */
export type PostponeReason = 'sent' | 'deferred';

const isUnmoved = ({ message: { id, orgId }, state, dueAt }: DueEntry) =>
  unchanged({ dueIn: keys.dueOf(state, id), dueKey: keys.dueKey(orgId, dueAt) }, ['dueIn', 'dueKey']);

/** Rows of a page; small enough that a run can end between two pages. */
const PAGE = 100;
/** Of an organization on a page of all: a batch of a queue. */
const SHARE = 10;

/** A range of a partition: of all organizations, or of one. */
export type DueRange = { first: string; last: string; isOfOne: boolean; after?: Row };

/**
 * Sparse index of deliveries for the reconciler, sorted by organization and then by time: a read skips the
 * organizations that it has seen, however much they have waiting
 * (docs/decisions/0034-turns-by-organization.md).
 */
export function dueIndex(deliveries: Table) {
  return {
    /** Adds an open delivery whose message counts as lost from `dueAt`, unless it has an entry. */
    async watch(ref: DueRef, dueAt: Date): Promise<void> {
      const set = assign(buildPlace('watched', ref, dueAt));
      const isAbsent = expression`attribute_not_exists(dueIn)`;
      await updateDelivery(deliveries, buildOpenUpdate(ref, expression`SET ${set}`, [isAbsent]));
    },

    /** Moves an entry's due time. Does nothing when the entry has moved since it was read. */
    async postpone(entry: DueEntry, until: Date, reason: PostponeReason = 'sent'): Promise<void> {
      const { message } = entry;
      const isDeferred = reason === 'deferred';
      const set = assign({ ...buildPlace('watched', message, until), ...(isDeferred && { isDeferred }) });
      const removes = attributes(['parked', ...(isDeferred ? [] : ['isDeferred'])]);
      const change = expression`SET ${set} REMOVE ${removes}`;
      await updateDelivery(deliveries, buildOpenUpdate(message, change, [isUnmoved(entry)]));
    },

    /**
     * Ends an open, unleased delivery as expired. Refused when its entry moved: a message may be in flight.
     */
    expire(entry: DueEntry, now: Date): Promise<'done' | 'refused'> {
      return updateDelivery(deliveries, buildSkipUpdate(entry.message, 'expired', now, isUnmoved(entry)));
    },

    /**
     * Entries of a shard due by `until`: a share of each organization, its earliest first. Eventually
     * consistent, like every index.
     * @param position where a page continues with further organizations, or with more of one
     * @returns `next` for further organizations, and `more` for those that have more than their share
     */
    async find(
      state: DueState,
      shard: number,
      until: Date,
      position: DueRange = ALL,
    ): Promise<{ entries: DueEntry[]; unreadable: UnreadableRow[]; next?: DueRange; more: DueRange[] }> {
      const { first, last, isOfOne, after } = position;
      const page = await query(deliveries, {
        index: DUE_INDEX,
        where: expression`dueIn = ${keys.due(state, shard)} AND dueKey BETWEEN ${first} AND ${last}`,
        limit: PAGE,
        after,
      });
      const lastOrganization = page.next && splitDueKey(page.next.dueKey).orgId;
      const taken: Row[] = [];
      const more: DueRange[] = [];
      for (const [orgId, rows] of Map.groupBy(page.rows, ({ dueKey }) => splitDueKey(dueKey).orgId)) {
        const end = keys.dueKey(orgId, until.toISOString());
        const due = rows.filter(({ dueKey }) => String(dueKey) <= end);
        const share = isOfOne ? due : due.slice(0, SHARE);
        taken.push(...share);
        const isCut = orgId === lastOrganization && due.length === rows.length;
        const lastTaken = share.at(-1);
        if (lastTaken === undefined || (!isCut && share.length === due.length)) continue;
        const { pk, sk, dueIn, dueKey } = lastTaken;
        more.push({
          first: keys.dueKey(orgId, ''),
          last: end,
          isOfOne: true,
          after: { pk, sk, dueIn, dueKey },
        });
      }
      const readable = parseReadable(taken, (row) => ({
        message: DeliveryMessage.parse({ ...row, id: row.sk }),
        state,
        dueAt: splitDueKey(row.dueKey).dueAt,
        ...(row.isDeferred === true ? { isDeferred: true as const } : {}),
      }));
      const next = isOfOne ? undefined : lastOrganization;
      return { ...readable, more, ...(next && { next: { ...ALL, first: `${next}${DUE_END}` } }) };
    },
  };
}

const ALL: DueRange = { first: '#', last: '~', isOfOne: false };

function splitDueKey(dueKey: unknown): { orgId: string; dueAt: string } {
  const [orgId = '', dueAt = ''] = String(dueKey).split('#');
  return { orgId, dueAt };
}
