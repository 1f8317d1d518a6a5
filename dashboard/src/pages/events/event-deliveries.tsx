import type { EventDelivery, EventDetail } from '../../api/events.ts';
import type { DeliverySummary } from '../../api/open-deliveries.ts';
import { isOver } from '../../api/pace.ts';
import { Link } from '../../parts/link.tsx';
import { Notice } from '../../parts/notice.tsx';
import { t } from '../../text/language.ts';
import { Attempts } from '../deliveries/attempts.tsx';
import { DeliveryStatus, isWaiting, NextAttempt, NotSent, RecoveredBy } from '../deliveries/recovered-by.tsx';
import { STATUSES } from '../deliveries/statuses.ts';
import { EndpointName } from '../endpoint-name.tsx';
import { FailureCause } from '../failure-cause.tsx';
import { Actions } from './actions.tsx';
import styles from './events.module.css';
import { receiptsOf, recovererOf } from './outcomes.ts';

/** Reasons that the receiver's status says already. */
const SAID_BY_STATUS = {
  paused: 'endpoint_paused',
  auto_disabled: 'endpoint_disabled',
  deleted: 'endpoint_deleted',
} as const;

/** What became of an event at each receiver, what failed first and open. */
export function EventDeliveries({ event }: { event: EventDetail }) {
  const order = receiptsOf(event).map(({ receiverId }) => receiverId);
  const place = ({ webhookId, channelId }: EventDelivery) => order.indexOf(webhookId ?? channelId ?? '');
  // The latest of a receiver first.
  const sorted = event.deliveries.toReversed().toSorted((one, other) => place(one) - place(other));
  return (
    <>
      <h3 className="visually-hidden">{t.deliveries.title}</h3>
      <ul className={styles.receipts} aria-label={t.deliveries.title}>
        {sorted.map((delivery, index) => (
          <li key={delivery.id}>
            <OneDelivery
              delivery={delivery}
              recoveredBy={recovererOf(delivery, event.deliveries)}
              isOpen={index === 0 || STATUSES[delivery.status].showsWhy}
            />
          </li>
        ))}
      </ul>
    </>
  );
}

function OneDelivery({
  delivery,
  recoveredBy,
  isOpen,
}: {
  delivery: EventDelivery;
  recoveredBy: DeliverySummary | undefined;
  isOpen: boolean;
}) {
  const { status, url, webhookId, receiverStatus, terminalReason, lastError } = delivery;
  const isSaid = receiverStatus !== 'active' && terminalReason === SAID_BY_STATUS[receiverStatus];
  return (
    <details className={styles.receipt} open={isOpen}>
      <summary>
        <span className={styles.summary}>
          <DeliveryStatus status={status} />
          {url === null ? t.eventLog.channel : <EndpointName id={webhookId ?? ''} url={url} />}
          {delivery.redeliveryOf === null ? null : <span className="quiet">{t.eventLog.resent}</span>}
        </span>
      </summary>
      <div className={styles.body}>
        <RecoveredBy delivery={recoveredBy} />
        {lastError === null || status === 'succeeded' ? null : (
          <Notice tone={isOver(delivery) ? 'bad' : 'warn'} title={t.common.lastError}>
            <FailureCause failure={delivery} />
          </Notice>
        )}
        {terminalReason === null || isSaid || status === 'succeeded' ? null : (
          <p>{t.reason[terminalReason]}.</p>
        )}
        {receiverStatus === 'active' ? null : <NotSent status={receiverStatus} webhookId={webhookId} />}
        {isWaiting(delivery) && delivery.attempts > 0 ? (
          <p>
            {t.deliveries.nextRetry}: <NextAttempt delivery={delivery} />
          </p>
        ) : null}
        <div className="row">
          {webhookId === null || receiverStatus !== 'active' ? null : (
            <Actions webhookId={webhookId} delivery={delivery} />
          )}
          {webhookId === null || receiverStatus === 'deleted' ? null : (
            <Link to={`/deliveries/${webhookId}/${delivery.id}`}>{t.eventLog.openDelivery}</Link>
          )}
        </div>
        <Attempts delivery={delivery} hasRequests={false} />
      </div>
    </details>
  );
}
