import { useSearchParams } from 'wouter';
import type { EventDetail } from '../../api/events.ts';
import { openDeliveries } from '../../api/open-deliveries.ts';
import { serviceNow } from '../../api/service-clock.ts';
import { CopyId } from '../../parts/copy.tsx';
import { Link } from '../../parts/link.tsx';
import { Notice } from '../../parts/notice.tsx';
import { Facts } from '../../parts/page.tsx';
import { Tabs } from '../../parts/tabs.tsx';
import { Moment } from '../../parts/time.tsx';
import { Url } from '../../parts/url.tsx';
import { t } from '../../text/language.ts';
import { EndpointName } from '../endpoint-name.tsx';
import { EventDeliveries } from './event-deliveries.tsx';
import { Payload } from './payload.tsx';

const DELIVERIES = 'deliveries';
const PAYLOAD = 'payload';

/** The address with the view that is shown, which stays while others are opened. */
function withView(search: URLSearchParams, view: string): URLSearchParams {
  const changed = new URLSearchParams(search);
  if (view === PAYLOAD) changed.set('show', PAYLOAD);
  else changed.delete('show');
  return changed;
}

/** An event's facts, its deliveries and its payload. */
export default function Content({ event }: { event: EventDetail }) {
  const [search, setSearch] = useSearchParams();
  const { conversationId } = event.data;
  return (
    <>
      <Facts
        facts={[
          [t.eventLog.happened, <Moment key="at" at={event.createdAt} />],
          [t.deliveries.eventId, <CopyId key="id" id={event.id} what={t.deliveries.eventId} />],
          typeof conversationId === 'string' && [
            t.eventLog.conversation,
            <Link key="conversation" to={`/events?conversation=${conversationId}`}>
              {t.eventLog.ofThisConversation}
            </Link>,
          ],
        ]}
      />
      <Tabs
        label={t.eventLog.one}
        selected={search.get('show') === PAYLOAD ? PAYLOAD : DELIVERIES}
        onSelect={(id) => setSearch((before) => withView(before, id), { replace: true })}
        tabs={[
          {
            id: DELIVERIES,
            title: t.eventLog.deliveries(event.deliveries.length),
            content: (
              <>
                {event.deliveries.length === 0 ? (
                  <NoDelivery event={event} />
                ) : (
                  <EventDeliveries event={event} />
                )}
                <Undelivered event={event} />
              </>
            ),
          },
          { id: PAYLOAD, title: t.eventLog.payload, content: <Payload event={event} /> },
        ]}
      />
    </>
  );
}

function NoDelivery({ event }: { event: EventDetail }) {
  if (openDeliveries(event, serviceNow()).length > 0) return <Notice tone="busy" title={t.eventLog.notYet} />;
  return (
    <Notice tone="idle" title={t.eventLog.noDelivery}>
      {event.undelivered.length > 0 ? null : <p>{t.eventLog.noDeliveryAbout(event.type)}</p>}
      <Link to="/endpoints">{t.endpoints.title}</Link>
    </Notice>
  );
}

/** Why endpoints without a delivery got none; a delivery that was skipped says why itself. */
function Undelivered({ event: { deliveries, undelivered } }: { event: EventDetail }) {
  const silent = undelivered.filter(
    ({ webhookId }) => !deliveries.some((each) => each.webhookId === webhookId),
  );
  if (silent.length === 0) return null;
  return (
    <>
      <h3>{t.eventLog.undelivered}</h3>
      <ul className="stack">
        {silent.map(({ webhookId, url, receiverStatus, reason }) => (
          <li key={webhookId}>
            {receiverStatus === 'deleted' ? (
              <Url url={url} />
            ) : (
              <Link to={`/endpoints/${webhookId}`}>
                <EndpointName id={webhookId} url={url} />
              </Link>
            )}
            : {t.eventLog.undeliveredReasons[reason]}.
          </li>
        ))}
      </ul>
    </>
  );
}
