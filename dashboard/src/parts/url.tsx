import { masked } from './masked.ts';
import styles from './url.module.css';

/** Characters at the end that stay: URLs of one host, and identifiers of one day, differ there. */
const KEPT = 14;

/** A text on one line, without its middle where there is no room. Screen readers read all of it. */
export function Shortened({ text, shown = text }: { text: string; shown?: string }) {
  const cut = Math.max(0, shown.length - KEPT);
  return (
    <span className={styles.url} title={text}>
      <span className={`visually-hidden ${styles.whole}`}>{text}</span>
      <span className={styles.start} aria-hidden="true">
        {shown.slice(0, cut)}
      </span>
      <span className={styles.end} aria-hidden="true">
        {shown.slice(cut)}
      </span>
    </span>
  );
}

/** A URL, shortened as above. */
export const Url = ({ url }: { url: string }) => {
  const text = masked(url);
  return <Shortened text={text} shown={text.replace(/^https:\/\//, '')} />;
};
