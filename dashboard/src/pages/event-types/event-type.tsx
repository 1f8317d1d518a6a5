import { useState } from 'react';
import { EVENT_TYPES } from '../../api/event-types.ts';
import { useEndpoints } from '../../api/webhooks.ts';
import { useEnvironment } from '../../app/environment.ts';
import { useIsAdmin } from '../../app/person.ts';
import { Button } from '../../parts/button.tsx';
import { Code } from '../../parts/code.tsx';
import { Link } from '../../parts/link.tsx';
import { isNoSandbox, Loaded, NoSandbox } from '../../parts/loaded.tsx';
import { Marked } from '../../parts/marked.tsx';
import { Card, Page } from '../../parts/page.tsx';
import { t } from '../../text/language.ts';
import { EndpointName } from '../endpoint-name.tsx';
import { EndpointStatus } from '../endpoint-status.tsx';
import { type CataloguedType, ENTRIES } from './catalogue.ts';
import { descriptionOf } from './descriptions.ts';
import styles from './event-types.module.css';
import { Fields } from './field-table.tsx';
import { SendExample } from './send-example.tsx';
import { subscribersOf } from './subscribers.ts';

/** One event type: what it means, its payload, and who receives it. */
export function EventTypePage({ type }: { type: CataloguedType }) {
  const { environment } = useEnvironment();
  const isAdmin = useIsAdmin();
  const [isSending, setSending] = useState(false);
  const { error } = useEndpoints(environment);
  const { example, sentTo } = ENTRIES[type];
  const canBeSent = sentTo !== 'channel';
  if (isNoSandbox(error)) return <NoSandbox title={t.eventTypes.title} />;
  return (
    <Page
      title={type}
      about={<Marked text={descriptionOf(type)} />}
      actions={
        canBeSent && isAdmin ? (
          <Button look="primary" onPress={() => setSending(true)}>
            {t.eventTypes.send}
          </Button>
        ) : null
      }
    >
      <p>
        <Link to="/event-types">{t.eventTypes.back}</Link>
      </p>
      {canBeSent && !isAdmin ? <p className="quiet">{t.eventTypes.sendMembers}</p> : null}
      <div className={styles.columns}>
        <Card title={t.eventLog.payload}>
          <Fields type={type} />
        </Card>
        <div className="stack">
          <Card title={t.eventTypes.example}>
            <Code text={JSON.stringify(example, undefined, 2)} label={t.eventTypes.payload} />
            <p className="quiet">{t.eventTypes.exampleAbout}</p>
          </Card>
          <Card title={t.eventTypes.receivers}>
            <Receivers type={type} />
          </Card>
        </div>
      </div>
      {isSending && type !== 'channel.message' && type !== 'channel.test' ? (
        <SendExample type={type} onClose={() => setSending(false)} />
      ) : null}
    </Page>
  );
}

function Receivers({ type }: { type: CataloguedType }) {
  const { environment } = useEnvironment();
  const query = useEndpoints(environment);
  if (type === 'webhook.test') return <p>{t.eventTypes.toTestedAbout}</p>;
  if (!EVENT_TYPES.some((each) => each === type)) return <p>{t.eventTypes.toChannelsAbout}</p>;
  return (
    <Loaded query={query} lines={2}>
      {(endpoints) => {
        const subscribed = subscribersOf(type, endpoints);
        return subscribed.length === 0 ? (
          <p>
            {t.eventTypes.noReceivers} <Link to="/endpoints">{t.endpoints.title}</Link>
          </p>
        ) : (
          <ul className={styles.receivers}>
            {subscribed.map((endpoint) => (
              <li key={endpoint.id}>
                <Link to={`/endpoints/${endpoint.id}`}>
                  <EndpointName id={endpoint.id} url={endpoint.url} />
                </Link>
                <EndpointStatus endpoint={endpoint} />
              </li>
            ))}
          </ul>
        );
      }}
    </Loaded>
  );
}
