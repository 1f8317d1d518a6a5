import { FileCode, type LucideIcon } from 'lucide-react';
import { Fragment, type ReactNode, useEffect, useRef, useState } from 'react';
import { Link as RouterLink, useLocation } from 'wouter';
import { Button } from '../parts/button.tsx';
import { Dialog, DialogActions } from '../parts/dialog.tsx';
import { Icon } from '../parts/icon.tsx';
import { mediaQuery } from '../parts/media.ts';
import { Failure } from '../parts/notice.tsx';
import { t } from '../text/language.ts';
import { halfOf, rememberHalf, samePlaceIn, useEnvironment } from './environment.ts';
import { usePerson, useSignOut } from './person.ts';
import { GROUPS, PLACES } from './places.ts';
import { SearchButton } from './search-button.tsx';
import styles from './shell.module.css';

/** As in the style sheet: where there is no room beside the page, its menu has what is around it. */
const useIsNarrow = mediaQuery('(max-width: 860px)');

/** What the focus moves to when it changes: an event is beside the list of events, a recovery is not. */
function pageOf(path: string): string {
  if (path.endsWith('/recover')) return path;
  return path.startsWith('/events/') ? '/events' : path.split('/').slice(0, 3).join('/');
}

/** What is around every page: where one is, what is shown, who one is. */
export function Shell({ children }: { children: ReactNode }) {
  const [path] = useLocation();
  const { environment, to } = useEnvironment();
  const half = halfOf(path);
  const isNarrow = useIsNarrow();
  const [isMenuOpen, setMenuOpen] = useState(false);
  const main = useRef<HTMLElement>(null);
  const page = pageOf(path);
  const shownBefore = useRef(page);
  useEffect(() => rememberHalf(half), [half]);
  useEffect(() => {
    setMenuOpen(false);
    // Screen readers announce the new page.
    if (shownBefore.current !== page) main.current?.focus({ preventScroll: true });
    shownBefore.current = page;
  }, [page]);
  return (
    <div className={styles.shell}>
      <a className={styles.skip} href="#main">
        {t.nav.skip}
      </a>
      <header className={styles.head}>
        <div className={styles.menu}>
          <Button aria-expanded={isMenuOpen} aria-controls="pages" onPress={() => setMenuOpen(!isMenuOpen)}>
            {t.nav.menu}
          </Button>
        </div>
        <RouterLink href={to('/')} className={styles.brand ?? ''}>
          <img src="/icon.svg" alt="" />
          <span>{usePerson().organizationName}</span>
        </RouterLink>
        <Halves />
        <SearchButton />
        {isNarrow ? null : <Account />}
      </header>
      {environment === 'sandbox' ? (
        <aside className={styles.banner} aria-label={t.environment.sandbox}>
          {half === undefined ? t.environment.bannerOfWhole : t.environment.banner}
        </aside>
      ) : null}
      <Navigation isOpen={isMenuOpen} />
      <main id="main" ref={main} tabIndex={-1} className={styles.main}>
        {children}
      </main>
    </div>
  );
}

function Halves() {
  const [path] = useLocation();
  const { environment } = useEnvironment();
  return (
    <nav className={styles.halves} aria-label={t.environment.label}>
      {(['live', 'sandbox'] as const).map((half) => (
        <RouterLink
          key={half}
          href={samePlaceIn(half, path)}
          className={styles.half ?? ''}
          data-half={half}
          aria-current={half === environment}
        >
          {t.environment[half]}
        </RouterLink>
      ))}
    </nav>
  );
}

function Account() {
  const { email, userId, role } = usePerson();
  const { error, isPending, signOut } = useSignOut();
  const [isTold, setTold] = useState(false);
  return (
    <div className={styles.account}>
      <span>
        {email ?? userId} · {t.account.role[role]}
      </span>
      <Button
        look="plain"
        isPending={isPending}
        onPress={() => {
          setTold(false);
          void signOut();
        }}
      >
        {t.account.signOut}
      </Button>
      <Dialog
        title={t.account.notSignedOut}
        isOpen={error !== undefined && !isTold}
        onClose={() => setTold(true)}
      >
        <Failure error={error} />
        <DialogActions>
          <Button onPress={() => setTold(true)}>{t.close}</Button>
        </DialogActions>
      </Dialog>
    </div>
  );
}

function Navigation({ isOpen }: { isOpen: boolean }) {
  const { to } = useEnvironment();
  return (
    <nav id="pages" className={styles.nav} aria-label={t.nav.label} data-open={isOpen}>
      {GROUPS.map((group) => (
        <Fragment key={group}>
          {group === 'overview' ? null : <h2>{t.nav[group]}</h2>}
          {PLACES.filter((place) => place.group === group).map((place) => (
            <NavigationLink
              key={place.path}
              to={place.ofBoth ? to(place.path) : place.path}
              icon={place.icon}
              hasMore={place.ofBoth && place.path !== '/'}
            >
              {place.title(t)}
            </NavigationLink>
          ))}
        </Fragment>
      ))}
      <a href="/api/docs">
        <Icon of={FileCode} />
        {t.nav.reference}
      </a>
      {useIsNarrow() ? <Account /> : null}
    </nav>
  );
}

/** @param hasMore whether paths below it are the same place */
function NavigationLink({
  to,
  icon,
  hasMore = false,
  children,
}: {
  to: string;
  icon: LucideIcon;
  hasMore?: boolean;
  children: ReactNode;
}) {
  const [path] = useLocation();
  // The deliveries of an endpoint belong to it.
  const isHere = path === to || (hasMore && path.replace('/deliveries/', '/endpoints/').startsWith(`${to}/`));
  return (
    <RouterLink href={to} aria-current={isHere ? 'page' : undefined}>
      <Icon of={icon} />
      {children}
    </RouterLink>
  );
}
