import { useQuery } from '@tanstack/react-query';
import { answerTo, api } from '../../api/client.ts';
import { ApiFailure } from '../../api/failures.ts';
import { type DeliveryWithAttempts, isOver, useSendTest } from '../../api/webhooks.ts';
import { useEnvironment } from '../../app/environment.ts';
import { Button } from '../../parts/button.tsx';
import { Link } from '../../parts/link.tsx';
import { Failure, Notice } from '../../parts/notice.tsx';
import { useFormat } from '../../text/format.ts';
import { useTexts } from '../../text/language.ts';

/** Sends a test, and watches it arrive. */
export function TestSending({ webhookId }: { webhookId: string }) {
  const t = useTexts();
  const { environment } = useEnvironment();
  const send = useSendTest(environment, webhookId);
  return (
    <div className="stack">
      <div>
        <Button
          isPending={send.isPending}
          onPress={() => send.mutate({ key: { 'Idempotency-Key': crypto.randomUUID() } })}
        >
          {t.endpoints.test}
        </Button>
      </div>
      {send.error ? <Failure error={send.error} /> : null}
      {send.data ? (
        <Watched key={send.data.deliveryId} webhookId={webhookId} id={send.data.deliveryId} />
      ) : null}
    </div>
  );
}

const LOOK_MS = 400;

/** A delivery as it comes into being: it is there within a moment of the answer that names it. */
function useComing(webhookId: string, id: string) {
  const { environment } = useEnvironment();
  return useQuery({
    queryKey: [environment, 'deliveries', webhookId, id],
    queryFn: async () => {
      const { data, error, response } = await api.GET('/api/settings/webhooks/{id}/deliveries/{deliveryId}', {
        params: { path: { id: webhookId, deliveryId: id }, query: { environment } },
      });
      if (response.status === 404) return null;
      return (await answerTo(Promise.resolve({ data, error, response }))).data;
    },
    refetchInterval: ({ state }) => (state.data && isOver(state.data) ? false : LOOK_MS),
  });
}

function Watched({ webhookId, id }: { webhookId: string; id: string }) {
  const t = useTexts();
  const { data, error } = useComing(webhookId, id);
  if (error instanceof ApiFailure) return <Failure error={error} />;
  return (
    <>
      {data ? <Told delivery={data} /> : <Notice tone="busy" title={t.endpoints.testWaiting} />}
      {data ? <Link to={`/deliveries/${webhookId}/${id}`}>{t.endpoints.testOpen}</Link> : null}
    </>
  );
}

function Told({ delivery }: { delivery: DeliveryWithAttempts }) {
  const t = useTexts();
  const format = useFormat();
  const last = delivery.attemptLog.at(-1);
  if (delivery.status === 'succeeded')
    return <Notice tone="good" title={t.endpoints.testArrived(format.duration(last?.durationMs ?? 0))} />;
  if (isOver(delivery))
    return (
      <Notice tone="bad" title={t.endpoints.testEnded}>
        <p>{delivery.lastError}</p>
      </Notice>
    );
  if (delivery.status === 'retrying')
    return (
      <Notice tone="warn" title={t.endpoints.testFailed}>
        <p>{delivery.lastError}</p>
      </Notice>
    );
  return <Notice tone="busy" title={t.endpoints.testWaiting} />;
}
