import type { ReactNode } from 'react';
import styles from './field.module.css';

/** One thing that is so or not. */
export const Check = ({
  isSelected,
  onChange,
  children,
}: {
  isSelected: boolean;
  onChange: (isSelected: boolean) => void;
  children: ReactNode;
}) => (
  <label className={styles.choice}>
    <input
      type="checkbox"
      className="visually-hidden"
      checked={isSelected}
      onChange={(event) => onChange(event.target.checked)}
    />
    <CheckMark />
    <span>{children}</span>
  </label>
);

export const CheckMark = () => (
  <span className={styles.box}>
    <svg
      aria-hidden="true"
      width="12"
      height="12"
      viewBox="0 0 12 12"
      fill="none"
      stroke="currentColor"
      strokeWidth="2"
    >
      <path d="M2 6.500 4.750 9.250 10 3" />
    </svg>
  </span>
);
