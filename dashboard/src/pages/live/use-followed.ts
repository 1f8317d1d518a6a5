import {
  useCallback,
  useEffect,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
  useSyncExternalStore,
} from 'react';
import type { Environment } from '../../api/client.ts';
import { nextLookIn } from '../../api/pace.ts';
import { serviceNow } from '../../api/service-clock.ts';
import { type Followed, follow, type Source, type View } from './follow.ts';
import type { Row } from './rows.ts';

/** Looks that fail one after another before that is said: one alone may be a lost packet. */
const FAILURES_TOLD = 3;

export interface Live<R extends Row> extends Followed<R> {
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

/** A list that outlives its page, so that who comes back finds the same rows at the same place. */
interface Kept {
  // biome-ignore lint/suspicious/noExplicitAny: lists of different rows are kept together
  follower: ReturnType<typeof follow<any>>;
  source: object;
  view: { current: View };
  /** When its page was left, in milliseconds since the epoch. */
  leftAt: number;
  /** How long it is kept after that. */
  keptMs: number;
}
const MAX_KEPT_LISTS = 4;
/** A reset may have deleted the rows of a sandbox. */
const KEPT_MS: Record<Environment, number> = { live: 10 * 60_000, sandbox: 0 };
const kept = new Map<string, Kept>();

function keep<R extends Row>(
  environment: Environment,
  key: string,
  source: () => Source<R>,
  view: View,
): Kept {
  const last = kept.get(key);
  const known = last !== undefined && Date.now() - last.leftAt < last.keptMs ? last : undefined;
  // The last one that was used goes last.
  kept.delete(key);
  const entry = known ?? begin(source(), view, KEPT_MS[environment]);
  kept.set(key, entry);
  const [first] = kept.keys();
  if (kept.size > MAX_KEPT_LISTS && first !== undefined) kept.delete(first);
  return entry;
}

function begin<R extends Row>(source: Source<R>, view: View, keptMs: number): Kept {
  const latest = { current: view };
  const follower = follow<R>(
    source,
    { isAtTop: () => latest.current.isAtTop(), inView: () => latest.current.inView() },
    serviceNow,
  );
  return { source, follower, view: latest, leftAt: Number.POSITIVE_INFINITY, keptMs };
}

/**
 * A list, newest first, page by page; new rows appear within two seconds.
 * @param parts all else that the source depends on
 * @param source is asked for once
 * @param view returns the visible part of the list
 */
export function useFollowed<R extends Row, S extends Source<R> = Source<R>>(
  environment: Environment,
  parts: readonly unknown[],
  source: () => S,
  view: View,
): Live<R> & { source: S } {
  const key = JSON.stringify([environment, ...parts]);
  const [round, setRound] = useState(0);
  const [stale, setStale] = useState<unknown>();
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new round begins anew
  const entry = useMemo(() => keep(environment, key, source, view), [key, round]);
  useLayoutEffect(() => {
    entry.view.current = view;
  });
  const follower = entry.follower as ReturnType<typeof follow<R>>;
  const state = useSyncExternalStore(follower.subscribe, follower.state);
  const signal = useRef<AbortSignal>(undefined);

  useEffect(() => {
    entry.leftAt = Number.POSITIVE_INFINITY;
    const controller = new AbortController();
    signal.current = controller.signal;
    setStale(undefined);
    void follower.begin(controller.signal);
    keepLooking(follower.turn, setStale, controller.signal);
    return () => {
      entry.leftAt = Date.now();
      controller.abort();
    };
  }, [entry, follower]);

  const loadMore = useCallback(() => {
    if (signal.current) void follower.loadMore(signal.current);
  }, [follower]);
  const reload = useCallback(() => {
    kept.delete(key);
    setRound((value) => value + 1);
  }, [key]);
  return { ...state, source: entry.source as S, stale, loadMore, showWaiting: follower.showWaiting, reload };
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
