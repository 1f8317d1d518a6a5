import type { ReactNode } from 'react';
import { t } from '../text/language.ts';
import styles from './gate-box.module.css';

export const GateBox = ({ children }: { children: ReactNode }) => (
  <main className={styles.gate}>
    <div className={styles.box}>
      <p className={styles.brand}>
        <img src="/icon.svg" alt="" />
        {t.product}
      </p>
      {children}
    </div>
  </main>
);
