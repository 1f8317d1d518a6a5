import { useCallback, useEffect, useMemo, useRef, useState, useSyncExternalStore } from 'react';
import { answerTo, api, type Environment } from '../../api/client.ts';
import { isGone } from '../../api/failures.ts';
import { nextLookIn } from '../../api/pace.ts';
import { serviceNow, timeAsked } from '../../api/service-clock.ts';
import { type Delivery, readDelivery } from '../../api/webhooks.ts';
import { type Filters, isLike, queryOf } from './filters.ts';
import { type Followed, follow, type Source, type View } from './follow.ts';

const PAGE = 100;
/** Looks that fail one after another before that is said: one alone may be a lost packet. */
const FAILURES_TOLD = 3;

export interface Deliveries extends Followed<Delivery> {
  /**
   * Why what is new cannot be looked for, which has failed several times; undefined as soon as it succeeds.
   */
  stale: unknown;
  loadMore(): void;
  /** Puts the new ones, which wait, on top. */
  showWaiting(): void;
  /** Begins anew. */
  reload(): void;
}

/**
 * An endpoint's deliveries, newest first, page by page; new ones appear within two seconds.
 * @param view returns the visible part of the list
 */
export function useDeliveries(
  environment: Environment,
  webhookId: string,
  filters: Filters,
  view: View,
): Deliveries {
  const [round, setRound] = useState(0);
  const [stale, setStale] = useState<unknown>();
  const latest = useRef(view);
  latest.current = view;

  // biome-ignore lint/correctness/useExhaustiveDependencies: a new round begins anew
  const follower = useMemo(
    () =>
      follow<Delivery>(
        sourceOf(environment, webhookId, filters),
        { isAtTop: () => latest.current.isAtTop(), inView: () => latest.current.inView() },
        serviceNow,
      ),
    [environment, webhookId, filters, round],
  );
  const state = useSyncExternalStore(follower.subscribe, follower.state);
  const signal = useRef<AbortSignal>(undefined);

  useEffect(() => {
    const controller = new AbortController();
    signal.current = controller.signal;
    setStale(undefined);
    void follower.begin(controller.signal);
    keepLooking(follower.turn, setStale, controller.signal);
    return () => controller.abort();
  }, [follower]);

  const loadMore = useCallback(() => {
    if (signal.current) void follower.loadMore(signal.current);
  }, [follower]);
  const reload = useCallback(() => setRound((value) => value + 1), []);
  return { ...state, stale, loadMore, showWaiting: follower.showWaiting, reload };
}

function sourceOf(environment: Environment, webhookId: string, filters: Filters): Source<Delivery> {
  const query = queryOf(filters, serviceNow());
  const earliest = query.from === undefined ? Number.NEGATIVE_INFINITY : Date.parse(query.from);
  return {
    async page({ cursor, from, to }, signal) {
      const begin = Math.max(earliest, from ?? Number.NEGATIVE_INFINITY);
      const asked = performance.now();
      const { data, error, response } = await api.GET('/api/settings/webhooks/{id}/deliveries', {
        params: {
          path: { id: webhookId },
          query: {
            environment,
            limit: PAGE,
            ...query,
            ...(begin > 0 ? { from: new Date(begin).toISOString() } : {}),
            ...(to === undefined ? {} : { to: new Date(to).toISOString() }),
            ...(cursor === undefined ? {} : { cursor }),
          },
        },
        signal,
      });
      const at = timeAsked(response, performance.now() - asked);
      const page = await answerTo(Promise.resolve({ data, error, response }));
      return { rows: page.data, next: page.nextCursor, at };
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
    isWhole: filters.status === 'any' && filters.event === 'any',
  };
}

/**
 * Does something again and again while the page can be seen, never twice at once, and less often while it
 * fails.
 */
function keepLooking(
  turn: (signal: AbortSignal) => Promise<void>,
  onStale: (error: unknown) => void,
  signal: AbortSignal,
): void {
  let failures = 0;
  let timer: ReturnType<typeof setTimeout>;
  const look = async () => {
    let failure: unknown;
    if (document.visibilityState === 'visible')
      try {
        await turn(signal);
        if (signal.aborted) return;
        failures = 0;
        onStale(undefined);
      } catch (error) {
        if (signal.aborted) return;
        failure = error;
        failures += 1;
        if (failures >= FAILURES_TOLD) onStale(error);
      }
    if (!signal.aborted) timer = setTimeout(look, nextLookIn(failures, failure));
  };
  timer = setTimeout(look, nextLookIn(0, undefined));
  signal.addEventListener('abort', () => clearTimeout(timer));
}
