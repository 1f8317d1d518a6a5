import type { DeliverySummary } from '../../api/open-deliveries.ts';
import { isOver } from '../../api/pace.ts';
import type { Delivery, DeliveryStatus as Value } from '../../api/webhooks.ts';
import { buttonLook } from '../../parts/button.tsx';
import { Link } from '../../parts/link.tsx';
import { Notice } from '../../parts/notice.tsx';
import { Status } from '../../parts/status.tsx';
import { Moment } from '../../parts/time.tsx';
import { Shortened } from '../../parts/url.tsx';
import { t } from '../../text/language.ts';
import { STATUSES } from './statuses.ts';

/** The delivery by which an event has arrived after another one had failed; nothing without one. */
export function RecoveredBy({ delivery }: { delivery: DeliverySummary | undefined }) {
  if (delivery === undefined) return null;
  const { id, webhookId, receiverStatus, terminalAt } = delivery;
  return (
    <Notice tone="good" title={t.deliveries.recovered}>
      <p>
        {t.deliveries.recoveredBy}{' '}
        {webhookId === null || receiverStatus === 'deleted' ? (
          <Shortened text={id} />
        ) : (
          <Link to={`/deliveries/${webhookId}/${id}`}>
            <Shortened text={id} />
          </Link>
        )}
        {terminalAt === null ? null : (
          <>
            , <Moment at={terminalAt} />
          </>
        )}
      </p>
    </Notice>
  );
}

/** Why nothing can be sent to an endpoint or channel, with the way to change that. */
export const NotSent = ({
  status,
  webhookId,
}: {
  status: Exclude<DeliverySummary['receiverStatus'], 'active'>;
  webhookId: string | null;
}) => (
  <p className="row">
    <span className="quiet">{t.eventLog.receiver[status]}</span>
    {webhookId === null || status === 'deleted' ? null : status === 'paused' ? (
      <Link to={`/endpoints/${webhookId}`}>{t.recover.back}</Link>
    ) : (
      <Link to={`/endpoints/${webhookId}/recover`} className={buttonLook('primary')}>
        {t.recover.action}
      </Link>
    )}
  </p>
);

export const DeliveryStatus = ({ status }: { status: Value }) => (
  <Status tone={STATUSES[status].tone}>{t.status[status]}</Status>
);

type Waiting<D> = D & { nextRetryAt: string };

/** Whether the time of a delivery's next attempt is known. */
export const isWaiting = <D extends Pick<Delivery, 'status' | 'nextRetryAt'>>(
  delivery: D,
): delivery is Waiting<D> => delivery.nextRetryAt !== null && !isOver(delivery);

/** When the next attempt is due, and why then where the receiver asked for it. */
export const NextAttempt = ({
  delivery: { nextRetryAt, nextRetryReason },
}: {
  delivery: Waiting<Pick<Delivery, 'nextRetryReason'>>;
}) => (
  <>
    <Moment at={nextRetryAt} />
    {nextRetryReason === null ? null : (
      <span className="quiet"> {t.deliveries.nextRetryReason[nextRetryReason]}</span>
    )}
  </>
);
