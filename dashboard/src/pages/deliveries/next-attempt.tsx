import { isOver } from '../../api/pace.ts';
import type { Delivery } from '../../api/webhooks.ts';
import { Moment } from '../../parts/time.tsx';
import { t } from '../../text/language.ts';

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
