import type { ListedEvent } from '../../api/open-deliveries.ts';
import { Status } from '../../parts/status.tsx';
import { Ago } from '../../parts/time.tsx';
import { Url } from '../../parts/url.tsx';
import { useTexts } from '../../text/language.ts';
import { TONES } from '../deliveries/delivery-status.tsx';
import styles from './cells.module.css';
import { type Receipt, receiptsOf } from './outcomes.ts';

/** Receivers that a row names; of the others it has the number. */
const MAX_CHIPS = 3;

/** What an event's row has: what happened, what became of it at each receiver, and when. */
export function Cells({ row }: { row: ListedEvent }) {
  const t = useTexts();
  const receipts = receiptsOf(row);
  const more = receipts.length - MAX_CHIPS;
  return (
    <>
      <span className={styles.type}>{row.type}</span>
      <span className={styles.chips}>
        {receipts.length === 0 ? <span className={styles.quiet}>{t.eventLog.noReceiver}</span> : null}
        {receipts.slice(0, MAX_CHIPS).map((receipt) => (
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
        <Ago at={row.createdAt} />
      </span>
    </>
  );
}

function Chip({ receipt: { delivery } }: { receipt: Receipt }) {
  const t = useTexts();
  return (
    <span className={styles.chip}>
      <Status tone={TONES[delivery.status]}>
        <span className="visually-hidden">{t.status[delivery.status]}: </span>
        {delivery.url === null ? t.eventLog.channel : <Url url={delivery.url} />}
      </Status>
    </span>
  );
}
