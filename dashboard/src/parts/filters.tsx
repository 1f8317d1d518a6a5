import { SlidersHorizontal } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import { t } from '../text/language.ts';
import { Button } from './button.tsx';
import { Dialog, DialogActions } from './dialog.tsx';
import styles from './filters.module.css';
import { Icon } from './icon.tsx';
import { mediaQuery } from './media.ts';

const useIsSmall = mediaQuery('(max-width: 600px)');

/**
 * Fields that narrow a list: in one row, and on small screens behind a button, so that the list begins at the
 * top of the page.
 * @param count fields that narrow it now
 */
export function Filters({ count, children }: { count: number; children: ReactNode }) {
  const isSmall = useIsSmall();
  const [isOpen, setOpen] = useState(false);
  if (!isSmall) return <div className={styles.filters}>{children}</div>;
  return (
    <div className={styles.opener}>
      <Button onPress={() => setOpen(true)}>
        <Icon of={SlidersHorizontal} />
        {t.filters.open(count)}
      </Button>
      <Dialog title={t.filters.title} isOpen={isOpen} onClose={() => setOpen(false)}>
        <div className="stack">{children}</div>
        <DialogActions>
          <Button look="primary" onPress={() => setOpen(false)}>
            {t.filters.show}
          </Button>
        </DialogActions>
      </Dialog>
    </div>
  );
}
