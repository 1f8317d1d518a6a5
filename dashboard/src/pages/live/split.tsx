import { type ReactNode, type RefObject, useEffect, useEffectEvent, useRef } from 'react';
import { useLocation } from 'wouter';
import { isGone } from '../../api/failures.ts';
import { useEnvironment } from '../../app/environment.ts';
import { Link } from '../../parts/link.tsx';
import { Loaded, type Query } from '../../parts/loaded.tsx';
import { mediaQuery } from '../../parts/media.ts';
import { Empty, Failure, Loading } from '../../parts/notice.tsx';
import { Card } from '../../parts/page.tsx';
import { DIALOGS, FIELDS } from '../../parts/selectors.ts';
import { t } from '../../text/language.ts';
import type { View } from './follow.ts';
import type { ListHandle } from './list.tsx';
import type { Row } from './rows.ts';
import styles from './split.module.css';
import type { Live } from './use-followed.ts';

/** How much of the list may be above the window while it counts as at its top. */
const TOP = 40;

/**
 * A list with what is open of it beside it, or instead of it where there is no room.
 * @param openId what is open
 * @param list path of the list alone
 */
export function useSplit(openId: string | undefined, list: string) {
  const listed = useRef<HTMLDivElement>(null);
  const handle = useRef<ListHandle>(null);
  const isSplit = useIsSplit();
  const isSmall = useIsSmall();
  const isOpen = openId !== undefined;
  const isCovered = isOpen && !isSplit;
  useScrollKept(isCovered);
  const heading = useFocusMoved(openId, handle);
  useClosedByEscape(isOpen, list);
  const view: View = {
    // A covered list does not change, so that the user finds the place again.
    isAtTop: () => !isCovered && window.scrollY <= (listed.current?.offsetTop ?? 0) + TOP,
    inView: () => (isCovered ? [] : (handle.current?.inView() ?? [])),
  };
  return { listed, list: handle, heading, view, isOpen, isCovered, isNarrow: isSmall || isOpen };
}

const useIsSplit = mediaQuery('(min-width: 1101px)');
const useIsSmall = mediaQuery('(max-width: 860px)');

/** Escape leads back to the list where no dialog or field has it. */
function useClosedByEscape(isOpen: boolean, list: string): void {
  const { to } = useEnvironment();
  const [, navigate] = useLocation();
  const onEscape = useEffectEvent(() => navigate(to(list)));
  useEffect(() => {
    if (!isOpen) return;
    const onKeyDown = ({ key, target }: KeyboardEvent) => {
      const isInField = target instanceof Element && target.closest(FIELDS) !== null;
      if (key === 'Escape' && !isInField && document.querySelector(`${DIALOGS}, :popover-open`) === null)
        onEscape();
    };
    document.addEventListener('keydown', onKeyDown);
    return () => document.removeEventListener('keydown', onKeyDown);
  }, [isOpen]);
}

/**
 * Moves the focus to what was opened, and back to its row when it is closed.
 * @returns for the heading of what is open
 */
function useFocusMoved(
  openId: string | undefined,
  list: RefObject<ListHandle | null>,
): RefObject<HTMLHeadingElement | null> {
  const heading = useRef<HTMLHeadingElement>(null);
  const last = useRef(openId);
  useEffect(() => {
    const before = last.current;
    last.current = openId;
    if (before === openId) return;
    if (openId !== undefined) heading.current?.focus({ preventScroll: true });
    else if (before !== undefined) list.current?.focus(before);
  }, [openId, list]);
  return heading;
}

/** Goes back to where the page was scrolled to before something took its place. */
function useScrollKept(isCovered: boolean): void {
  const before = useRef(0);
  useEffect(() => {
    if (!isCovered) return;
    before.current = window.scrollY;
    window.scrollTo({ top: 0 });
    return () => {
      requestAnimationFrame(() => window.scrollTo({ top: before.current }));
    };
  }, [isCovered]);
}

/**
 * What is open of a list, beside it.
 * @param list path of the list alone
 * @param heading gets the focus when it is opened
 * @param missing stands where it does not exist
 */
export const Beside = <Data,>({
  query,
  label,
  title = label,
  list,
  heading,
  missing,
  children,
}: {
  query: Query<Data>;
  label: string;
  title?: string | undefined;
  list: string;
  heading: RefObject<HTMLHeadingElement | null>;
  missing: ReactNode;
  children: (data: Data) => ReactNode;
}) => (
  <section className={styles.beside} aria-label={label}>
    <Card>
      <div className={styles.opened}>
        <h2 ref={heading} tabIndex={-1}>
          {title}
        </h2>
        <Link to={list}>{t.deliveries.back}</Link>
      </div>
      {isGone(query.error) ? missing : <Loaded query={query}>{children}</Loaded>}
    </Card>
  </section>
);

/**
 * What is below a list: what is being read, what went wrong, or that there is no more.
 * @param searching says that the list is read further
 * @param end says that there is no more; `none` that there is nothing at all
 * @param paused stands there while the reader is asked whether to go on
 */
export function ListFoot<R extends Row>({
  live: { rows, next, error, isLoading, loadMore, reload },
  searching,
  end,
  none: [title, about],
  paused,
}: {
  live: Live<R>;
  searching: string;
  end: string;
  none: readonly [title: string, about: string];
  paused?: ReactNode;
}) {
  if (error)
    return (
      <Failure title={t.failure.loading} error={error} onRetry={rows.length === 0 ? reload : loadMore} />
    );
  if (next === undefined) return <Loading />;
  if (isLoading)
    return (
      <p className={styles.foot} role="status">
        {searching}
      </p>
    );
  if (paused) return paused;
  if (next !== null) return null;
  if (rows.length > 0) return <p className={styles.foot}>{end}</p>;
  return (
    <Empty title={title}>
      <p>{about}</p>
    </Empty>
  );
}
