import { Button } from '../../parts/button.tsx';
import { Empty, Failure, Loading } from '../../parts/notice.tsx';
import { format, t } from '../../text/language.ts';
import split from '../live/split.module.css';
import styles from './events.module.css';
import type { Events } from './use-events.ts';

/** What is below the list: what is being read, how far that came, or that there is no more. */
export function Foot({
  events,
  isFiltered,
  conversation,
}: {
  events: Events;
  isFiltered: boolean;
  conversation: string | undefined;
}) {
  const { rows, next, error, isLoading, pausedAt, loadMore, reload } = events;
  if (error)
    return (
      <Failure title={t.failure.loading} error={error} onRetry={rows.length === 0 ? reload : loadMore} />
    );
  if (next === undefined) return <Loading />;
  if (isLoading)
    return (
      <p className={split.foot} role="status">
        {rows.length === 0 || isFiltered ? t.eventLog.searching : t.loading}
      </p>
    );
  if (pausedAt !== undefined)
    return (
      <div className={styles.paused} role="status">
        <p>
          {conversation === undefined
            ? t.eventLog.searchedBack(format.short(pausedAt))
            : t.eventLog.searchedUntil(format.short(pausedAt))}
        </p>
        <Button onPress={loadMore}>{t.eventLog.searchOn}</Button>
      </div>
    );
  if (next !== null) return null;
  if (rows.length > 0) return <p className={split.foot}>{endOf(isFiltered, conversation)}</p>;
  return (
    <Empty title={t.eventLog.none}>
      <p>{noneOf(isFiltered, conversation)}</p>
    </Empty>
  );
}

function endOf(isFiltered: boolean, conversation: string | undefined): string {
  if (conversation !== undefined) return t.eventLog.endOfConversation;
  return isFiltered ? t.deliveries.endFiltered : t.deliveries.end;
}

function noneOf(isFiltered: boolean, conversation: string | undefined): string {
  if (conversation !== undefined) return t.eventLog.noneOfConversation;
  return isFiltered ? t.eventLog.noneFiltered : t.eventLog.noneAbout;
}
