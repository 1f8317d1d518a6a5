import type { DeliverySummary } from '../../api/open-deliveries.ts';
import { buttonLook } from '../../parts/button.tsx';
import { Link } from '../../parts/link.tsx';
import { Notice } from '../../parts/notice.tsx';
import { Moment } from '../../parts/time.tsx';
import { Shortened } from '../../parts/url.tsx';
import { t } from '../../text/language.ts';

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
