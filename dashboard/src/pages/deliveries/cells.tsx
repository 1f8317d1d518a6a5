import type { Delivery } from '../../api/webhooks.ts';
import { PlainAgo } from '../../parts/time.tsx';
import { errorText } from '../../text/error-text.ts';
import { t } from '../../text/language.ts';
import styles from './cells.module.css';
import { DeliveryStatus } from './recovered-by.tsx';

/** What a delivery's row has. */
export function Cells({ row }: { row: Delivery }) {
  // In few characters: there is little room.
  const why = ({ status, lastResponseStatus, terminalReason }: Delivery) => {
    if (status === 'skipped' && terminalReason !== null) return t.reason[terminalReason];
    return lastResponseStatus === null ? errorText(row) : t.deliveries.answered(lastResponseStatus);
  };
  return (
    <>
      <span className={styles.status}>
        <DeliveryStatus status={row.status} />
      </span>
      <span className={`${styles.cell} ${styles.type}`}>{row.eventType}</span>
      <span className={`${styles.cell} ${styles.detail}`}>{row.status === 'succeeded' ? '' : why(row)}</span>
      <span className={`${styles.cell} ${styles.attempts}`}>{t.deliveries.attempts(row.attempts)}</span>
      <span className={`${styles.cell} ${styles.time}`}>
        <PlainAgo at={row.createdAt} />
      </span>
    </>
  );
}
