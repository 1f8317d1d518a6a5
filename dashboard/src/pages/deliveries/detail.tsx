import { type RefObject, useState } from 'react';
import { useLocation } from 'wouter';
import { type EventDelivery, useEvent } from '../../api/events.ts';
import { isOver } from '../../api/pace.ts';
import {
  type DeliveryWithAttempts,
  type Endpoint,
  useDelivery,
  useEndpoint,
  useRedeliver,
} from '../../api/webhooks.ts';
import { useEnvironment } from '../../app/environment.ts';
import { useIsAdmin } from '../../app/person.ts';
import { Button } from '../../parts/button.tsx';
import { CopyId } from '../../parts/copy.tsx';
import { Link } from '../../parts/link.tsx';
import { Empty, Failure, Notice } from '../../parts/notice.tsx';
import { Facts } from '../../parts/page.tsx';
import { Moment } from '../../parts/time.tsx';
import { Shortened } from '../../parts/url.tsx';
import { t } from '../../text/language.ts';
import { recovererOf } from '../events/outcomes.ts';
import { FailureCause } from '../failure-cause.tsx';
import { Beside } from '../live/split.tsx';
import { Attempts } from './attempts.tsx';
import { SendAgain } from './bulk.tsx';
import { DeliveryStatus, isWaiting, NextAttempt, NotSent, RecoveredBy } from './recovered-by.tsx';

/**
 * One delivery beside the list: why it was not delivered, and what can be done.
 * @param heading gets the focus when the delivery is opened
 */
export function Detail({
  webhookId,
  id,
  search,
  heading,
}: {
  webhookId: string;
  id: string;
  search: string;
  heading: RefObject<HTMLHeadingElement | null>;
}) {
  const { environment } = useEnvironment();
  return (
    <Beside
      query={useDelivery(environment, webhookId, id)}
      label={t.deliveries.one}
      list={`/deliveries/${webhookId}${search}`}
      heading={heading}
      missing={<Empty title={t.deliveries.gone} />}
    >
      {(delivery) => <Told delivery={delivery} search={search} />}
    </Beside>
  );
}

function Told({ delivery, search }: { delivery: DeliveryWithAttempts; search: string }) {
  const recoverer = useRecoverer(delivery);
  return (
    <>
      <div className="row">
        <DeliveryStatus status={delivery.status} />
        <code>{delivery.eventType}</code>
      </div>
      <RecoveredBy delivery={recoverer} />
      {delivery.lastError === null || delivery.status === 'succeeded' ? null : (
        <Notice tone={isOver(delivery) ? 'bad' : 'warn'} title={t.common.lastError}>
          <FailureCause failure={delivery} />
        </Notice>
      )}
      <Redelivery delivery={delivery} search={search} isRecovered={recoverer !== undefined} />
      <DeliveryFacts delivery={delivery} />
      <h3>{t.deliveries.attemptLog}</h3>
      <Attempts delivery={delivery} />
    </>
  );
}

const hasFailed = ({ status }: DeliveryWithAttempts): boolean =>
  status === 'exhausted' || status === 'skipped';

/** By which delivery the event has arrived instead. */
function useRecoverer(delivery: DeliveryWithAttempts): EventDelivery | undefined {
  const { environment } = useEnvironment();
  const { data } = useEvent(environment, delivery.eventId, hasFailed(delivery));
  const own = data?.deliveries.find(({ id }) => id === delivery.id);
  return own && recovererOf(own, data?.deliveries ?? []);
}

function DeliveryFacts({ delivery }: { delivery: DeliveryWithAttempts }) {
  const { terminalAt, terminalReason, redeliveryOf, webhookId } = delivery;
  return (
    <Facts
      facts={[
        [t.common.created, <Moment key="created" at={delivery.createdAt} />],
        isWaiting(delivery) && [t.deliveries.nextRetry, <NextAttempt key="next" delivery={delivery} />],
        terminalAt !== null && [t.deliveries.ended, <Moment key="ended" at={terminalAt} />],
        terminalReason !== null && [t.common.reason, t.reason[terminalReason]],
        redeliveryOf !== null && [
          t.deliveries.repeats,
          <Link key="repeats" to={`/deliveries/${webhookId}/${redeliveryOf}`}>
            <Shortened text={redeliveryOf} />
          </Link>,
        ],
        [t.deliveries.id, <CopyId key="id" id={delivery.id} what={t.deliveries.id} />],
        [
          t.deliveries.eventId,
          <CopyId key="event" id={delivery.eventId} what={t.deliveries.eventId}>
            <Link to={`/events/${delivery.eventId}`}>
              <Shortened text={delivery.eventId} />
            </Link>
          </CopyId>,
        ],
      ]}
    />
  );
}

function Redelivery({
  delivery,
  search,
  isRecovered,
}: {
  delivery: DeliveryWithAttempts;
  search: string;
  isRecovered: boolean;
}) {
  const isAdmin = useIsAdmin();
  const { environment, to } = useEnvironment();
  const [, navigate] = useLocation();
  const redeliver = useRedeliver(environment, delivery);
  const { data: endpoint } = useEndpoint(environment, delivery.webhookId);
  if (endpoint !== undefined && endpoint.status !== 'active')
    return isRecovered ? null : <NotSent status={endpoint.status} webhookId={endpoint.id} />;
  if (!isAdmin) return <p className="quiet">{t.admins}</p>;
  return (
    <div className="stack">
      <div className="row">
        <Button
          isPending={redeliver.isPending}
          isDisabled={!isOver(delivery)}
          onPress={() => redeliver.mutate()}
        >
          {t.deliveries.redeliver}
        </Button>
        {isOver(delivery) ? null : <span className="quiet">{t.deliveries.stillOpen}</span>}
        {hasFailed(delivery) && endpoint !== undefined ? (
          <SinceThen endpoint={endpoint} from={Date.parse(delivery.createdAt)} />
        ) : null}
      </div>
      <Failure error={redeliver.error} />
      {redeliver.data ? (
        <Notice tone="good" title={t.deliveries.redelivered}>
          <div>
            <Button
              look="plain"
              onPress={() =>
                navigate(`${to(`/deliveries/${delivery.webhookId}/${redeliver.data?.id}`)}${search}`)
              }
            >
              {t.deliveries.openNew}
            </Button>
          </div>
        </Notice>
      ) : null}
    </div>
  );
}

/** Resends all deliveries that failed since one of them: the others of an outage. */
function SinceThen({ endpoint, from }: { endpoint: Endpoint; from: number }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <Button look="plain" onPress={() => setOpen(true)}>
        {t.deliveries.sinceThen}
      </Button>
      {isOpen ? <SendAgain endpoint={endpoint} from={from} onClose={() => setOpen(false)} /> : null}
    </>
  );
}
