import styles from './code.module.css';
import { CopyButton } from './copy.tsx';

/** Code or data, as it is. @param isWrapped for what has no lines of its own */
export const Code = ({
  text,
  label,
  isWrapped = false,
}: {
  text: string;
  label: string;
  isWrapped?: boolean;
}) => (
  <div className={styles.block}>
    <div className={styles.bar}>
      <span className="quiet">{label}</span>
      <CopyButton text={text} what={label} />
    </div>
    <pre
      className={`${styles.code} ${isWrapped ? styles.wrapped : ''}`}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
      tabIndex={0}
    >
      {text}
    </pre>
  </div>
);

/** Text that may be JSON, indented if it is. */
export function indented(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), undefined, 2);
  } catch {
    return text;
  }
}
