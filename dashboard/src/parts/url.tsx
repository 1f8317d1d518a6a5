import styles from './url.module.css';

/** Characters at the end of a URL that stay: URLs of one host differ there. */
const KEPT = 14;

/** A URL on one line, without its middle where there is no room. Screen readers read all of it. */
export function Url({ url }: { url: string }) {
  const cut = Math.max(0, url.length - KEPT);
  return (
    <span className={styles.url} title={url}>
      <span className={`visually-hidden ${styles.whole}`}>{url}</span>
      <span className={styles.start} aria-hidden="true">
        {url.slice(0, cut).replace(/^https:\/\//, '')}
      </span>
      <span className={styles.end} aria-hidden="true">
        {url.slice(cut)}
      </span>
    </span>
  );
}
