import { Search as Glass } from 'lucide-react';
import { lazy, Suspense, useCallback, useEffect, useRef, useState } from 'react';
import { Button } from '../parts/button.tsx';
import { Icon } from '../parts/icon.tsx';
import { DIALOGS, FIELDS } from '../parts/selectors.ts';
import { t } from '../text/language.ts';
import { Boundary } from './boundary.tsx';
import { useLoadedLater } from './load-later.ts';
import { loadFile } from './page-files.ts';
import styles from './search-button.module.css';

const load = () => loadFile(() => import('../pages/search/search.tsx'));
const Search = lazy(load);

const isMac = /Mac|iPhone|iPad/.test(navigator.userAgent);

/** Opens the search, also by ⌘K or Ctrl+K, and by a slash where that is no text. */
export function SearchButton() {
  const [isOpen, setOpen] = useState(false);
  const readEarly = useEarlyText(isOpen);
  // So that what is typed at once is not lost.
  useLoadedLater(load);
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      if (!isShortcut(event)) return;
      event.preventDefault();
      setOpen(true);
    };
    document.addEventListener('keydown', onKeyDown);
    return () => document.removeEventListener('keydown', onKeyDown);
  }, []);
  return (
    <>
      <div className={styles.opener}>
        <Button onPress={() => setOpen(true)}>
          <Icon of={Glass} />
          <span className={styles.word}>{t.search.open}</span>
          <span className={styles.key} aria-hidden="true">
            {isMac ? '⌘K' : t.search.keys}
          </span>
        </Button>
      </div>
      {isOpen ? (
        <Boundary around={(told) => told}>
          <Suspense>
            <Search readEarly={readEarly} onClose={() => setOpen(false)} />
          </Suspense>
        </Boundary>
      ) : null}
    </>
  );
}

/** What is typed or pasted after the search was asked for and before its field is there. */
function useEarlyText(isWanted: boolean): () => string {
  const text = useRef('');
  useEffect(() => {
    text.current = '';
    if (!isWanted) return;
    const take = (event: Event, added: string) => {
      if (added === '' || (event.target instanceof Element && event.target.closest(DIALOGS) !== null)) return;
      event.preventDefault();
      text.current += added;
    };
    const onKeyDown = (event: KeyboardEvent) => {
      if (!event.ctrlKey && !event.metaKey && !event.altKey && event.key.length === 1) take(event, event.key);
    };
    const onPaste = (event: ClipboardEvent) => take(event, event.clipboardData?.getData('text') ?? '');
    document.addEventListener('keydown', onKeyDown, true);
    document.addEventListener('paste', onPaste, true);
    return () => {
      document.removeEventListener('keydown', onKeyDown, true);
      document.removeEventListener('paste', onPaste, true);
    };
  }, [isWanted]);
  return useCallback(() => text.current, []);
}

function isShortcut({ key, metaKey, ctrlKey, altKey, target }: KeyboardEvent): boolean {
  if (altKey || document.querySelector(DIALOGS) !== null) return false;
  if (key.toLowerCase() === 'k') return metaKey || ctrlKey;
  if (key !== '/' || metaKey || ctrlKey) return false;
  return !(target instanceof Element && target.closest(FIELDS) !== null);
}
