import type { ReactNode } from 'react';
import { ApiFailure } from '../api/failures.ts';
import { t } from '../text/language.ts';
import { Button } from './button.tsx';
import { CopyButton } from './copy.tsx';
import styles from './notice.module.css';
import type { Tone } from './status.tsx';

/** Something that the page has to say about itself. */
export const Notice = ({ tone, title, children }: { tone: Tone; title: string; children?: ReactNode }) => (
  <div
    className={styles.notice}
    data-tone={tone}
    {...(tone === 'bad' ? { role: 'alert' } : { role: 'status' })}
  >
    <p className={styles.title}>{title}</p>
    {children}
  </div>
);

/** What went wrong, and what support finds it by; nothing where nothing did. @param onRetry tries it again */
export function Failure({
  title,
  error,
  onRetry,
}: {
  title?: string;
  error: unknown;
  onRetry?: (() => void) | undefined;
}) {
  if (error === null || error === undefined) return null;
  const known = error instanceof ApiFailure ? error : undefined;
  return (
    <Notice tone="bad" title={title ?? t.failure.title}>
      {known === undefined ? <p>{t.failure.unexpected}</p> : <Reason failure={known} />}
      {known?.retryAfter === undefined ? null : <p>{t.failure.retryAfter(known.retryAfter)}</p>}
      <RequestId error={error} />
      {onRetry === undefined ? null : (
        <div>
          <Button onPress={onRetry}>{t.failure.retry}</Button>
        </div>
      )}
    </Notice>
  );
}

/** Why a request failed: in the page's language where it has a text of that type, else the API's message. */
export function Reason({ failure: { status, type, message } }: { failure: ApiFailure }) {
  const own = status === 0 ? t.failure.unreachable : t.failure.types[type];
  return own === undefined ? <p lang="en">{message}</p> : <p>{own}</p>;
}

/** What support finds a request by; nothing where there is none. */
function RequestId({ error }: { error: unknown }) {
  if (!(error instanceof ApiFailure) || error.requestId === undefined) return null;
  return (
    <p className={styles.request}>
      <span>{t.failure.requestId}</span>
      <code>{error.requestId}</code>
      <CopyButton text={error.requestId} what={t.failure.requestId} />
    </p>
  );
}

/** Where there is nothing yet: what would be here, and how it comes about. */
export const Empty = ({ title, children }: { title?: string; children?: ReactNode }) => (
  <div className={styles.empty}>
    {title === undefined ? null : <h2>{title}</h2>}
    {children}
  </div>
);

/** Stands where something is being loaded. */
export const Loading = ({ lines = 6 }: { lines?: number | undefined }) => (
  <div className={styles.skeleton} role="status" aria-label={t.loading}>
    {Array.from({ length: lines }, (_, line) => (
      // biome-ignore lint/suspicious/noArrayIndexKey: the lines are all the same
      <span key={line} />
    ))}
  </div>
);
