import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { isGone } from '../../api/failures.ts';
import { isOver, testLookIn } from '../../api/pace.ts';
import { serviceNow } from '../../api/service-clock.ts';
import { type DeliveryWithAttempts, readDelivery, useSendTest } from '../../api/webhooks.ts';
import { useEnvironment } from '../../app/environment.ts';
import { useIsAdmin } from '../../app/person.ts';
import { Button } from '../../parts/button.tsx';
import { Link } from '../../parts/link.tsx';
import { Failure, Notice } from '../../parts/notice.tsx';
import { format, t } from '../../text/language.ts';
import { RetryNow } from '../events/actions.tsx';
import { FailureCause } from '../failure-cause.tsx';

/** Sends a test, and watches it arrive. */
export function TestSending({ webhookId }: { webhookId: string }) {
  const { environment } = useEnvironment();
  const send = useSendTest(environment, webhookId);
  return (
    <div className="stack">
      <div>
        <Button isPending={send.isPending} onPress={() => send.mutate()}>
          {t.endpoints.test}
        </Button>
      </div>
      <Failure error={send.error} />
      {send.data ? (
        <Watched
          key={send.data.deliveryId}
          webhookId={webhookId}
          id={send.data.deliveryId}
          waiting={t.endpoints.testWaiting}
        />
      ) : null}
    </div>
  );
}

/** A delivery as it comes into being: it is there within a moment of the answer that names it. */
function useComing(webhookId: string, id: string) {
  const { environment } = useEnvironment();
  const [sentAt] = useState(() => performance.now());
  return useQuery({
    // Not that of a delivery that is there: null, as long as it is not, is nothing that others expect.
    queryKey: [environment, 'coming', webhookId, id],
    queryFn: async ({ signal }) => {
      try {
        return await readDelivery(environment, webhookId, id, signal);
      } catch (error) {
        if (isGone(error)) return null;
        throw error;
      }
    },
    refetchInterval: ({ state: { data, error } }) =>
      testLookIn(performance.now() - sentAt, data ?? undefined, serviceNow(), error),
  });
}

/** A delivery that was just requested, until it has ended. @param waiting says what is being sent */
export function Watched({ webhookId, id, waiting }: { webhookId: string; id: string; waiting: string }) {
  const { data, error } = useComing(webhookId, id);
  return (
    <>
      <Failure error={error} />
      {data ? <Told delivery={data} waiting={waiting} /> : <Notice tone="busy" title={waiting} />}
      {data ? <Link to={`/deliveries/${webhookId}/${id}`}>{t.eventLog.openDelivery}</Link> : null}
    </>
  );
}

function Told({ delivery, waiting }: { delivery: DeliveryWithAttempts; waiting: string }) {
  const isAdmin = useIsAdmin();
  const last = delivery.attemptLog.at(-1);
  if (delivery.status === 'succeeded')
    return <Notice tone="good" title={t.endpoints.testArrived(format.duration(last?.durationMs ?? 0))} />;
  if (isOver(delivery))
    return (
      <Notice tone="bad" title={t.endpoints.testEnded}>
        <FailureCause failure={delivery} />
      </Notice>
    );
  if (delivery.status === 'retrying')
    return (
      <Notice tone="warn" title={t.endpoints.testFailed}>
        <FailureCause failure={delivery} />
        {isAdmin ? (
          <div className="row">
            <RetryNow webhookId={delivery.webhookId} id={delivery.id} />
          </div>
        ) : null}
      </Notice>
    );
  return <Notice tone="busy" title={waiting} />;
}
