import { type Range, useWindowVirtualizer } from '@tanstack/react-virtual';
import {
  type KeyboardEvent,
  memo,
  type RefObject,
  useEffect,
  useImperativeHandle,
  useLayoutEffect,
  useReducer,
  useRef,
  useState,
} from 'react';
import type { Delivery } from '../../api/webhooks.ts';
import { Button } from '../../parts/button.tsx';
import { Link } from '../../parts/link.tsx';
import { Failure } from '../../parts/notice.tsx';
import { Ago } from '../../parts/time.tsx';
import { useTexts } from '../../text/language.ts';
import { DeliveryStatus } from './delivery-status.tsx';
import styles from './list.module.css';
import { placeOf, rangeWith } from './rows.ts';
import type { Deliveries } from './use-deliveries.ts';

/** Heights of a row in rem, as in the style sheet. */
const HEIGHT = { wide: 3.5, narrow: 4.5 };
/** Rows beyond what can be seen. */
const OVERSCAN = 12;
/** So many rows before its end the list is continued. */
const AHEAD = 30;

/** What others may ask of a list. */
export interface ListHandle {
  inView(): readonly string[];
  /** Puts the focus on a row, or on the one at its place if it is gone. */
  focus(id: string): void;
}

/**
 * The deliveries that there are, however many: only those in view are in the page. For the keyboard it is one
 * thing, in which arrow keys lead from row to row.
 * @param search of the address, which every row's own keeps
 * @param shown the delivery beside the list
 */
export function DeliveryList({
  deliveries,
  search,
  shown,
  isNarrow,
  handle,
}: {
  deliveries: Deliveries;
  search: string;
  shown: string | undefined;
  isNarrow: boolean;
  handle: RefObject<ListHandle | null>;
}) {
  const t = useTexts();
  const { rows, next, loadMore } = deliveries;
  const list = useRef<HTMLUListElement>(null);
  const [top, setTop] = useState(0);
  // The content above the list may change.
  useLayoutEffect(() => {
    if (list.current?.offsetParent) setTop(list.current.offsetTop);
  });
  const rem = Number.parseFloat(getComputedStyle(document.documentElement).fontSize);
  const height = (isNarrow ? HEIGHT.narrow : HEIGHT.wide) * rem;
  // The row that Tab reaches: the chosen one, else the one beside the list, else the first.
  const [chosen, setChosen] = useState(shown);
  const active = chosen === undefined ? 0 : Math.min(placeOf(rows, chosen), Math.max(0, rows.length - 1));
  const virtual = useWindowVirtualizer({
    count: rows.length,
    estimateSize: () => height,
    overscan: OVERSCAN,
    scrollMargin: top,
    getItemKey: (index) => rows[index]?.id ?? index,
    // Also far away, so that the focus stays where it is, and Tab finds it.
    rangeExtractor: (range: Range) => rangeWith(range, active),
  });
  // biome-ignore lint/correctness/useExhaustiveDependencies: rows of another height are to be measured anew
  useEffect(() => virtual.measure(), [height]);

  const items = virtual.getVirtualItems();
  const last = virtual.range?.endIndex ?? 0;
  useEffect(() => {
    if (next && last >= rows.length - AHEAD - OVERSCAN) loadMore();
  }, [last, next, rows.length, loadMore]);

  // A row that is to have the focus is in the page as soon as it is chosen, wherever it is.
  const wanted = useRef<string>(undefined);
  const [, draw] = useReducer((count: number) => count + 1, 0);
  const focusRow = (index: number) => {
    const row = rows[Math.min(index, rows.length - 1)];
    if (row === undefined) return;
    wanted.current = row.id;
    setChosen(row.id);
    draw();
  };
  useEffect(() => {
    const link = wanted.current === undefined ? null : linkOf(list.current, wanted.current);
    if (!link) return;
    wanted.current = undefined;
    link.focus({ preventScroll: true });
    link.scrollIntoView({ block: 'nearest' });
  });
  useImperativeHandle(handle, () => ({
    inView: () => {
      const { startIndex = 0, endIndex = -1 } = virtual.range ?? {};
      return rows.slice(startIndex, endIndex + 1).map(({ id }) => id);
    },
    focus: (id) => focusRow(placeOf(rows, id)),
  }));
  useFocusKept(list, rows, handle);

  const onKeyDown = (event: KeyboardEvent) => {
    if (event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return;
    const target = { ArrowDown: active + 1, ArrowUp: active - 1, Home: 0, End: rows.length - 1 }[event.key];
    if (target === undefined || target < 0) return;
    event.preventDefault();
    focusRow(target);
  };

  return (
    <div>
      <Fresh deliveries={deliveries} />
      <ul
        ref={list}
        className={`${styles.list} ${isNarrow ? styles.narrow : ''}`}
        style={{ height: virtual.getTotalSize() }}
        aria-label={t.deliveries.list}
        onKeyDown={onKeyDown}
        onFocus={({ target }) => setChosen(idOf(target) ?? chosen)}
      >
        {items.map(({ index, key, start }) => {
          const row = rows[index];
          return row === undefined ? null : (
            <li
              key={key}
              data-index={index}
              className={styles.item}
              style={{ transform: `translateY(${start - top}px)` }}
              aria-setsize={next === null ? rows.length : -1}
              aria-posinset={index + 1}
            >
              <Row row={row} search={search} isShown={row.id === shown} isActive={index === active} />
            </li>
          );
        })}
      </ul>
    </div>
  );
}

/** That there are new ones which are not shown yet, or that they cannot be looked for. */
function Fresh({ deliveries: { waiting, cut, stale, showWaiting } }: { deliveries: Deliveries }) {
  const t = useTexts();
  const show = () => {
    window.scrollTo({ top: 0 });
    showWaiting();
  };
  return (
    <>
      {stale === undefined ? null : (
        <div className={styles.stale}>
          <Failure title={t.deliveries.stale} error={stale} />
        </div>
      )}
      <div className={styles.fresh} role="status">
        {waiting.length > 0 ? (
          <Button look="primary" onPress={show}>
            {cut === undefined ? t.deliveries.fresh(waiting.length) : t.deliveries.freshMany}
          </Button>
        ) : null}
      </div>
    </>
  );
}

const idOf = (element: Element): string | undefined =>
  element.closest<HTMLElement>('[data-delivery]')?.dataset.delivery;
const linkOf = (list: HTMLElement | null, id: string) =>
  list?.querySelector<HTMLElement>(`[data-delivery="${id}"]`);

/**
 * Where the row with the focus goes, the one in its place has it: otherwise the keyboard would begin anew at
 * the top of the page.
 */
function useFocusKept(
  list: RefObject<HTMLUListElement | null>,
  rows: readonly Delivery[],
  handle: RefObject<ListHandle | null>,
): void {
  const focused = useRef<string>(undefined);
  useEffect(() => {
    const before = focused.current;
    const isLost = before !== undefined && rows[placeOf(rows, before)]?.id !== before;
    if (isLost && document.activeElement === document.body) handle.current?.focus(before);
  }, [rows, handle]);
  useEffect(() => {
    // A removed element fires no blur event: the lost focus shows only in where it went.
    const note = ({ target }: FocusEvent) => {
      const isInside = target instanceof Element && list.current?.contains(target);
      focused.current = isInside ? idOf(target) : undefined;
    };
    document.addEventListener('focusin', note);
    return () => document.removeEventListener('focusin', note);
  }, [list]);
}

const Row = memo(function Row({
  row,
  search,
  isShown,
  isActive,
}: {
  row: Delivery;
  search: string;
  isShown: boolean;
  isActive: boolean;
}) {
  const t = useTexts();
  return (
    <Link
      to={`/deliveries/${row.webhookId}/${row.id}${search}`}
      className={styles.row}
      aria-current={isShown}
      tabIndex={isActive ? 0 : -1}
      data-delivery={row.id}
    >
      <span className={styles.status}>
        <DeliveryStatus status={row.status} />
      </span>
      <span className={`${styles.cell} ${styles.type}`}>{row.eventType}</span>
      <span className={`${styles.cell} ${styles.detail}`}>
        {row.status === 'succeeded' ? '' : row.lastError}
      </span>
      <span className={`${styles.cell} ${styles.attempts}`}>{t.deliveries.attempts(row.attempts)}</span>
      <span className={`${styles.cell} ${styles.time}`}>
        <Ago at={row.createdAt} />
      </span>
    </Link>
  );
});
