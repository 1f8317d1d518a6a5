import { api, type Environment, timed } from '../../api/client.ts';
import { isGone } from '../../api/failures.ts';
import { isOver, lookAgainIn } from '../../api/pace.ts';
import { pathOf, withReceiver } from '../../api/receivers.ts';
import { serviceNow } from '../../api/service-clock.ts';
import { type Delivery, readDelivery } from '../../api/webhooks.ts';
import type { Source, View } from '../live/follow.ts';
import { type Live, useFollowed } from '../live/use-followed.ts';
import { type Filters, isLike, queryOf } from './filters.ts';

const PAGE = 100;

export type Deliveries = Live<Delivery>;

/**
 * An endpoint's deliveries, newest first, page by page; new ones appear within two seconds.
 * @param view returns the visible part of the list
 */
export const useDeliveries = (
  environment: Environment,
  webhookId: string,
  filters: Filters,
  view: View,
): Deliveries =>
  useFollowed(environment, [webhookId, filters], () => sourceOf(environment, webhookId, filters), view);

function sourceOf(environment: Environment, webhookId: string, filters: Filters): Source<Delivery> {
  const query = queryOf(filters, serviceNow());
  const earliest = query.from === undefined ? Number.NEGATIVE_INFINITY : Date.parse(query.from);
  return {
    async page({ cursor, from, to }, signal) {
      const begin = Math.max(earliest, from ?? Number.NEGATIVE_INFINITY);
      const {
        data,
        nextCursor: next,
        at,
      } = await timed(
        api.GET(pathOf(webhookId, '/api/settings/webhooks/{id}/deliveries'), {
          params: {
            path: { id: webhookId },
            query: {
              ...{ environment, limit: PAGE, ...query, ...(cursor === undefined ? {} : { cursor }) },
              ...(begin > 0 ? { from: new Date(begin).toISOString() } : {}),
              ...(to === undefined ? {} : { to: new Date(to).toISOString() }),
            },
          },
          signal,
        }),
      );
      return { rows: data.map((row) => withReceiver(row, webhookId)), next, at };
    },
    async one(id, signal) {
      try {
        const { attemptLog: _, ...row } = await readDelivery(environment, webhookId, id, signal);
        return row;
      } catch (error) {
        if (isGone(error)) return undefined;
        throw error;
      }
    },
    isLike: (row) => isLike(filters, row),
    isOpen: (row) => !isOver(row),
    lookAgainIn,
    isWhole: filters.status === 'any' && filters.event === 'any',
  };
}
