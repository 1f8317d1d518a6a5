import { type Range, useWindowVirtualizer } from '@tanstack/react-virtual';
import {
  type ComponentType,
  type KeyboardEvent,
  memo,
  type RefObject,
  useCallback,
  useEffect,
  useImperativeHandle,
  useLayoutEffect,
  useReducer,
  useRef,
  useState,
} from 'react';
import { Button } from '../../parts/button.tsx';
import { Link } from '../../parts/link.tsx';
import { Failure } from '../../parts/notice.tsx';
import { t } from '../../text/language.ts';
import styles from './list.module.css';
import { placeOf, type Row, rangeWith } from './rows.ts';
import type { Live } from './use-followed.ts';

/** Heights of a row in rem, as in the style sheet. */
const HEIGHT = { wide: 3.5, narrow: 4.5 };
const REM = 15;
const OVERSCAN = 12;
/** So many rows before its end the list is continued. */
const AHEAD = 30;

/** What others may ask of a list. */
export interface ListHandle {
  inView(): readonly string[];
  /** Puts the focus on a row, or on the one at its place if it is gone. */
  focus(id: string): void;
}

/** What a list says of itself. */
export interface ListTexts {
  title: string;
  fresh(count: number): string;
  freshMany: string;
}

/**
 * The rows that there are, however many: only those in view are in the page. For the keyboard it is one
 * thing, in which arrow keys lead from row to row.
 * @param to path of a row's own page
 * @param shown the row beside the list
 * @param isPaused whether the list is not continued until that is asked for
 * @param heads names of the columns, for those who see them: what a row says is read without them
 * @param look class of a row: its columns
 * @param Cells what a row has
 */
export function LiveList<R extends Row>({
  live,
  texts,
  to,
  shown,
  isNarrow,
  isPaused = false,
  heads,
  look,
  Cells,
  handle,
}: {
  live: Live<R>;
  texts: ListTexts;
  to: (row: R) => string;
  shown: string | undefined;
  isNarrow: boolean;
  isPaused?: boolean;
  heads: readonly string[];
  look: string | undefined;
  Cells: ComponentType<{ row: R }>;
  handle: RefObject<ListHandle | null>;
}) {
  const { rows, next, loadMore } = live;
  const list = useRef<HTMLUListElement>(null);
  const { top, rem } = useLayout(list);
  const height = (isNarrow ? HEIGHT.narrow : HEIGHT.wide) * rem;
  // The row that Tab reaches: the chosen one, else the one beside the list, else the first.
  const [chosen, setChosen] = useState(shown);
  const active = chosen === undefined ? 0 : Math.min(placeOf(rows, chosen), Math.max(0, rows.length - 1));
  // The same function for the same rows: with another one all of them are measured anew.
  const getItemKey = useCallback((index: number) => rows[index]?.id ?? index, [rows]);
  const virtual = useWindowVirtualizer({
    count: rows.length,
    estimateSize: () => height,
    overscan: OVERSCAN,
    scrollMargin: top,
    getItemKey,
    // Also far away, so that the focus stays where it is, and Tab finds it.
    rangeExtractor: (range: Range) => rangeWith(range, active),
  });
  // biome-ignore lint/correctness/useExhaustiveDependencies: rows of another height are to be measured anew
  useEffect(() => virtual.measure(), [height]);

  const items = virtual.getVirtualItems();
  const last = virtual.range?.endIndex ?? 0;
  useEffect(() => {
    if (next && !isPaused && last >= rows.length - AHEAD - OVERSCAN) loadMore();
  }, [last, next, isPaused, rows.length, loadMore]);

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
      <Fresh live={live} texts={texts} />
      {isNarrow || rows.length === 0 ? null : (
        <div className={`${styles.row} ${styles.heads} ${look}`} aria-hidden="true">
          {heads.map((head) => (
            <span key={head}>{head}</span>
          ))}
        </div>
      )}
      <ul
        ref={list}
        className={`${styles.list} ${isNarrow ? styles.narrow : ''}`}
        style={{ height: virtual.getTotalSize() }}
        aria-label={texts.title}
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
              <Item
                row={row}
                to={to(row)}
                look={`${styles.row} ${look}`}
                isShown={row.id === shown}
                isActive={index === active}
                Cells={Cells as ComponentType<{ row: Row }>}
              />
            </li>
          );
        })}
      </ul>
    </div>
  );
}

/** Where a list begins, and the size of a rem, in pixels; measured again when the page's height changes. */
function useLayout(list: RefObject<HTMLElement | null>): { top: number; rem: number } {
  const [layout, setLayout] = useState({ top: 0, rem: REM });
  useLayoutEffect(() => {
    const measure = () => {
      if (!list.current?.offsetParent) return;
      const { offsetTop: top } = list.current;
      const rem = Number.parseFloat(getComputedStyle(document.documentElement).fontSize);
      setLayout((known) => (known.top === top && known.rem === rem ? known : { top, rem }));
    };
    measure();
    // All of the page, of which what is above the list is a part.
    const observer = new ResizeObserver(measure);
    observer.observe(list.current?.closest('main')?.firstElementChild ?? document.body);
    return () => observer.disconnect();
  }, [list]);
  return layout;
}

/** That there are new ones which are not shown yet, or that they cannot be looked for. */
function Fresh<R extends Row>({
  live: { waiting, cut, stale, showWaiting },
  texts,
}: {
  live: Live<R>;
  texts: ListTexts;
}) {
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
            {cut === undefined ? texts.fresh(waiting.length) : texts.freshMany}
          </Button>
        ) : null}
      </div>
    </>
  );
}

const idOf = (element: Element): string | undefined =>
  element.closest<HTMLElement>('[data-row]')?.dataset.row;
const linkOf = (list: HTMLElement | null, id: string) =>
  list?.querySelector<HTMLElement>(`[data-row="${id}"]`);

/**
 * Where the row with the focus goes, the one in its place has it: otherwise the keyboard would begin anew at
 * the top of the page.
 */
function useFocusKept(
  list: RefObject<HTMLUListElement | null>,
  rows: readonly Row[],
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

const Item = memo(function Item({
  row,
  to,
  look,
  isShown,
  isActive,
  Cells,
}: {
  row: Row;
  to: string;
  look: string;
  isShown: boolean;
  isActive: boolean;
  Cells: ComponentType<{ row: Row }>;
}) {
  return (
    <Link to={to} className={look} aria-current={isShown} tabIndex={isActive ? 0 : -1} data-row={row.id}>
      <Cells row={row} />
    </Link>
  );
});
