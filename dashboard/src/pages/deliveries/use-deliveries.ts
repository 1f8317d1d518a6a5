import { useCallback, useEffect, useMemo, useRef, useState } from 'react';
import { answerTo, api, type Environment } from '../../api/client.ts';
import type { Delivery } from '../../api/webhooks.ts';
import { type Filters, queryOf } from './filters.ts';
import { freshFrom, updatedInPlace, withHead, withPage } from './rows.ts';

/** How often the top is asked for again, while the page can be seen. */
const LIVE_MS = 1_200;
const PAGE = 100;
/** Pages of new deliveries that are followed; where there are more, the list begins anew. */
const MAX_FRESH_PAGES = 4;

interface List {
  rows: readonly Delivery[];
  /** Where the next page begins; null at the end, undefined before the first one. */
  next: string | null | undefined;
}

const NOTHING: List = { rows: [], next: undefined };

export interface Deliveries extends List {
  isLoading: boolean;
  error: unknown;
  /** New deliveries that are not shown yet, so that whoever reads further down is not moved. */
  fresh: number;
  loadMore(): void;
  /** Begins anew, at the top. */
  reload(): void;
}

/**
 * An endpoint's deliveries, newest first, page by page, with what is new on top within two seconds.
 * @param isAtTop whether new ones may be put above what is being read
 */
export function useDeliveries(
  environment: Environment,
  webhookId: string,
  filters: Filters,
  isAtTop: () => boolean,
): Deliveries {
  const [list, setList] = useState(NOTHING);
  const [fresh, setFresh] = useState(0);
  const [error, setError] = useState<unknown>();
  const [isLoading, setLoading] = useState(true);
  const [round, setRound] = useState(0);
  const current = useRef(list);
  current.current = list;
  const atTop = useRef(isAtTop);
  atTop.current = isAtTop;

  // biome-ignore lint/correctness/useExhaustiveDependencies: a new round asks for the time that has become of it
  const query = useMemo(() => queryOf(filters, Date.now()), [filters, round]);
  const read = useCallback(
    async (more: { cursor?: string; from?: string }, signal: AbortSignal) =>
      answerTo(
        api.GET('/api/settings/webhooks/{id}/deliveries', {
          params: { path: { id: webhookId }, query: { environment, limit: PAGE, ...query, ...more } },
          signal,
        }),
      ),
    [environment, webhookId, query],
  );

  const loading = useRef<AbortController>(undefined);
  const loadPage = useCallback(
    async (cursor: string | undefined) => {
      const controller = new AbortController();
      loading.current = controller;
      setLoading(true);
      try {
        const page = await read(cursor === undefined ? {} : { cursor }, controller.signal);
        if (controller.signal.aborted) return;
        setError(undefined);
        setList((before) => ({
          rows: cursor === undefined ? page.data : withPage(before.rows, page.data),
          next: page.nextCursor,
        }));
      } catch (failure) {
        if (!controller.signal.aborted) setError(failure);
      } finally {
        if (!controller.signal.aborted) {
          loading.current = undefined;
          setLoading(false);
        }
      }
    },
    [read],
  );

  // The first page, and again whenever something else is looked for.
  useEffect(() => {
    setList(NOTHING);
    setFresh(0);
    void loadPage(undefined);
    return () => loading.current?.abort();
  }, [loadPage]);

  const loadMore = useCallback(() => {
    const { next } = current.current;
    if (typeof next === 'string' && loading.current === undefined) void loadPage(next);
  }, [loadPage]);

  useLive(async (signal) => {
    const { rows, next } = current.current;
    if (next === undefined) return;
    const from = freshFrom(rows, Date.now());
    const head = await readHead(read, query.from, from, signal);
    if (signal.aborted || current.current.rows !== rows) return;
    if (head === 'too many') {
      if (atTop.current()) setRound((value) => value + 1);
      else setFresh(MAX_FRESH_PAGES * PAGE);
      return;
    }
    if (atTop.current()) {
      setFresh(0);
      const merged = withHead(rows, head, from);
      if (!isSame(merged, rows)) setList({ rows: merged, next });
      return;
    }
    const updated = updatedInPlace(rows, head);
    setFresh(updated.fresh);
    if (updated.rows !== rows) setList({ rows: updated.rows, next });
  }, read);

  const reload = useCallback(() => setRound((value) => value + 1), []);
  return { ...list, fresh, error, isLoading, loadMore, reload };
}

type Read = (
  more: { cursor?: string; from?: string },
  signal: AbortSignal,
) => Promise<{ data: Delivery[]; nextCursor: string | null }>;

/** All rows from a time on. @param earliest of the filter, before which nothing is looked for */
async function readHead(
  read: Read,
  earliest: string | undefined,
  from: number,
  signal: AbortSignal,
): Promise<Delivery[] | 'too many'> {
  const start = new Date(Math.max(from, earliest === undefined ? 0 : Date.parse(earliest))).toISOString();
  const rows: Delivery[] = [];
  let cursor: string | undefined;
  for (let page = 0; page < MAX_FRESH_PAGES; page += 1) {
    const { data, nextCursor } = await read(
      { from: start, ...(cursor === undefined ? {} : { cursor }) },
      signal,
    );
    rows.push(...data);
    if (nextCursor === null) return rows;
    cursor = nextCursor;
  }
  return 'too many';
}

const isSame = (one: readonly Delivery[], other: readonly Delivery[]): boolean =>
  one.length === other.length &&
  one.every((row, index) => row.id === other[index]?.id && row.status === other[index]?.status);

/** Does something again and again while the page can be seen, never twice at once. A failure is not told: the next time may succeed. */
function useLive(action: (signal: AbortSignal) => Promise<void>, subject: unknown): void {
  const latest = useRef(action);
  latest.current = action;
  // biome-ignore lint/correctness/useExhaustiveDependencies: another subject ends what is under way for the last one
  useEffect(() => {
    const controller = new AbortController();
    const { signal } = controller;
    let timer: ReturnType<typeof setTimeout>;
    const turn = async () => {
      if (document.visibilityState === 'visible') await latest.current(signal).catch(() => undefined);
      if (!signal.aborted) timer = setTimeout(turn, LIVE_MS);
    };
    timer = setTimeout(turn, LIVE_MS);
    return () => {
      controller.abort();
      clearTimeout(timer);
    };
  }, [subject]);
}
