import type { DeliveryStatus as Value } from '../../api/webhooks.ts';
import { Status } from '../../parts/status.tsx';
import { t } from '../../text/language.ts';
import { STATUSES } from './statuses.ts';

/** How a delivery stands. */
export const DeliveryStatus = ({ status }: { status: Value }) => (
  <Status tone={STATUSES[status].tone}>{t.status[status]}</Status>
);
