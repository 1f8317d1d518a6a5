import { type ListedEvent, openDeliveries } from '../../api/open-deliveries.ts';
import { useNow } from '../../app/now.ts';
import { Status } from '../../parts/status.tsx';
import { PlainAgo } from '../../parts/time.tsx';
import { t } from '../../text/language.ts';
import { STATUSES } from '../deliveries/statuses.ts';
import { EndpointName } from '../endpoint-name.tsx';
import styles from './cells.module.css';
import { type Receipt, receiptsOf } from './outcomes.ts';

/** Receivers that a row names; of the others it has the number. */
const MAX_CHIPS = { wide: 3, narrow: 2 };

/** What an event's row has: what happened, to whom, what became of it at each receiver, and when. */
export const WideCells = ({ row }: { row: ListedEvent }) => <Cells row={row} most={MAX_CHIPS.wide} />;
export const NarrowCells = ({ row }: { row: ListedEvent }) => <Cells row={row} most={MAX_CHIPS.narrow} />;

function Cells({ row, most }: { row: ListedEvent; most: number }) {
  // What was recovered is said by the endpoint that took the place.
  const receipts = receiptsOf(row).filter(({ recoveredBy }) => recoveredBy === undefined);
  const more = receipts.length - most;
  return (
    <>
      <span className={styles.type}>{row.type}</span>
      <bdi className={styles.about}>{aboutOf(row)}</bdi>
      <span className={styles.chips}>
        {receipts.length === 0 ? <NoReceipt row={row} /> : null}
        {receipts.slice(0, most).map((receipt) => (
          <Chip key={receipt.receiverId} receipt={receipt} />
        ))}
        {more > 0 ? (
          <span className={styles.more}>
            <span aria-hidden="true">+{more}</span>
            <span className="visually-hidden">{t.eventLog.more(more)}</span>
          </span>
        ) : null}
      </span>
      <span className={styles.time}>
        <PlainAgo at={row.createdAt} />
      </span>
    </>
  );
}

/** How much of an identifier tells those of one day apart. */
const ID_END = 6;

/** Whom and which conversation an event is about, in few words. */
function aboutOf({ data }: ListedEvent): string {
  const { externalUserId, role, reason, conversationId } = data;
  const id = typeof conversationId === 'string' ? `cnv_…${conversationId.slice(-ID_END)}` : undefined;
  return [externalUserId, role, reason, id].filter((part) => typeof part === 'string').join(' · ');
}

/** An event without deliveries, which has none yet for some seconds. */
function NoReceipt({ row }: { row: ListedEvent }) {
  const isYoung = openDeliveries(row, useNow()).length > 0;
  return <span className={styles.quiet}>{isYoung ? t.status.pending : t.eventLog.outcomes.none}</span>;
}

const Chip = ({ receipt: { receiverId, delivery } }: { receipt: Receipt }) => (
  <span className={styles.chip}>
    <Status tone={STATUSES[delivery.status].tone}>
      <span className="visually-hidden">{t.status[delivery.status]}: </span>
      {delivery.url === null ? t.eventLog.channel : <EndpointName id={receiverId} url={delivery.url} />}
    </Status>
  </span>
);
