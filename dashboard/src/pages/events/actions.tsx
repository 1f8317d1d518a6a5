import { useQueryClient } from '@tanstack/react-query';
import type { EventDelivery } from '../../api/events.ts';
import { isOver } from '../../api/pace.ts';
import { useDelivery, useRedeliver, useRetryNow } from '../../api/webhooks.ts';
import { useEnvironment } from '../../app/environment.ts';
import { useIsAdmin } from '../../app/person.ts';
import { Button } from '../../parts/button.tsx';
import { Link } from '../../parts/link.tsx';
import { Failure } from '../../parts/notice.tsx';
import { t } from '../../text/language.ts';
import { DeliveryStatus } from '../deliveries/recovered-by.tsx';

/** What an admin can do about a delivery: attempt it now while it waits, resend it after its end. */
export function Actions({ webhookId, delivery }: { webhookId: string; delivery: EventDelivery }) {
  const isAdmin = useIsAdmin();
  if (!isAdmin) return <span className="quiet">{t.admins}</span>;
  if (isOver(delivery)) return <Resend webhookId={webhookId} id={delivery.id} />;
  return delivery.status === 'retrying' ? <RetryNow webhookId={webhookId} id={delivery.id} /> : null;
}

function Resend({ webhookId, id }: { webhookId: string; id: string }) {
  const { environment } = useEnvironment();
  const resend = useRedeliver(environment, { webhookId, id });
  return (
    <>
      <Button isPending={resend.isPending} onPress={() => resend.mutate()}>
        {t.deliveries.redeliver}
      </Button>
      <Failure error={resend.error} />
      {resend.data ? <Resent webhookId={webhookId} id={resend.data.id} /> : null}
    </>
  );
}

function Resent({ webhookId, id }: { webhookId: string; id: string }) {
  const { environment } = useEnvironment();
  const { data } = useDelivery(environment, webhookId, id);
  return (
    <span role="status" className="row">
      {t.deliveries.redelivered}:
      <DeliveryStatus status={data?.status ?? 'pending'} />
      <Link to={`/deliveries/${webhookId}/${id}`}>{t.deliveries.openNew}</Link>
    </span>
  );
}

export function RetryNow({ webhookId, id }: { webhookId: string; id: string }) {
  const queries = useQueryClient();
  const { environment } = useEnvironment();
  const retry = useRetryNow(environment, { webhookId, id });
  const onSettled = () => void queries.invalidateQueries({ queryKey: [environment] });
  return (
    <>
      <Button isPending={retry.isPending} onPress={() => retry.mutate(undefined, { onSettled })}>
        {t.eventLog.retryNow}
      </Button>
      <Failure error={retry.error} />
      {retry.data ? <span role="status">{t.eventLog.retried}</span> : null}
    </>
  );
}
