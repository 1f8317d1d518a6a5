import type { ReactNode } from 'react';
import styles from './status.module.css';

/** How something stands. Each tone has a shape of its own, for those to whom colours say nothing. */
export type Tone = 'good' | 'warn' | 'bad' | 'idle' | 'busy';

export const Status = ({ tone, children }: { tone: Tone; children: ReactNode }) => (
  <span className={styles.status} data-tone={tone}>
    {children}
  </span>
);
