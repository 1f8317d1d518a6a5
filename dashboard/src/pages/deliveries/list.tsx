import { useWindowVirtualizer } from '@tanstack/react-virtual';
import { type KeyboardEvent, memo, useEffect, useLayoutEffect, useRef, useState } from 'react';
import type { Delivery } from '../../api/webhooks.ts';
import { Button } from '../../parts/button.tsx';
import { Link } from '../../parts/link.tsx';
import { Ago } from '../../parts/time.tsx';
import { useTexts } from '../../text/language.ts';
import { DeliveryStatus } from './delivery-status.tsx';
import styles from './list.module.css';
import type { Deliveries } from './use-deliveries.ts';

/** Heights of a row in rem, as in the style sheet. */
const HEIGHT = { wide: 3.5, narrow: 4.5 };
/** Rows beyond what can be seen. */
const OVERSCAN = 12;
/** So many rows before its end the list is continued. */
const AHEAD = 30;

/**
 * The deliveries that there are, however many: only those in view are in the page.
 * @param search of the address, which every row's own keeps
 * @param shown the delivery beside the list
 */
export function DeliveryList({
  deliveries,
  search,
  shown,
  isNarrow,
}: {
  deliveries: Deliveries;
  search: string;
  shown: string | undefined;
  isNarrow: boolean;
}) {
  const t = useTexts();
  const { rows, next, fresh, loadMore, reload } = deliveries;
  const list = useRef<HTMLUListElement>(null);
  const [top, setTop] = useState(0);
  useLayoutEffect(() => setTop(list.current?.offsetTop ?? 0), []);
  const rem = Number.parseFloat(getComputedStyle(document.documentElement).fontSize);
  const height = (isNarrow ? HEIGHT.narrow : HEIGHT.wide) * rem;
  const virtual = useWindowVirtualizer({
    count: rows.length,
    estimateSize: () => height,
    overscan: OVERSCAN,
    scrollMargin: top,
    getItemKey: (index) => rows[index]?.id ?? index,
  });
  // biome-ignore lint/correctness/useExhaustiveDependencies: rows of another height are to be measured anew
  useEffect(() => virtual.measure(), [height]);

  const items = virtual.getVirtualItems();
  const last = items.at(-1)?.index ?? 0;
  useEffect(() => {
    if (typeof next === 'string' && last >= rows.length - AHEAD) loadMore();
  }, [last, next, rows.length, loadMore]);

  const focusRow = (index: number) => {
    if (index < 0 || index >= rows.length) return;
    virtual.scrollToIndex(index, { align: 'auto' });
    // It is in the page only after it was scrolled to.
    requestAnimationFrame(() =>
      requestAnimationFrame(() =>
        list.current?.querySelector<HTMLElement>(`[data-index="${index}"] a`)?.focus(),
      ),
    );
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const here = Number((event.target as HTMLElement).closest('[data-index]')?.getAttribute('data-index'));
    const target = { ArrowDown: here + 1, ArrowUp: here - 1, Home: 0, End: rows.length - 1 }[event.key];
    if (target === undefined || Number.isNaN(target)) return;
    event.preventDefault();
    focusRow(target);
  };

  return (
    <>
      <div className={styles.fresh} role="status">
        {fresh > 0 ? (
          <div>
            <Button
              look="primary"
              onPress={() => {
                window.scrollTo({ top: 0 });
                reload();
              }}
            >
              {t.deliveries.fresh(fresh)}
            </Button>
          </div>
        ) : null}
      </div>
      <ul
        ref={list}
        className={`${styles.list} ${isNarrow ? styles.narrow : ''}`}
        style={{ height: virtual.getTotalSize() }}
        aria-label={t.deliveries.list}
        onKeyDown={onKeyDown}
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
              <Row row={row} search={search} isShown={row.id === shown} />
            </li>
          );
        })}
      </ul>
    </>
  );
}

const Row = memo(function Row({ row, search, isShown }: { row: Delivery; search: string; isShown: boolean }) {
  const t = useTexts();
  return (
    <Link
      to={`/deliveries/${row.webhookId}/${row.id}${search}`}
      className={styles.row}
      aria-current={isShown}
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
