import { useParams } from 'wouter';
import { useEndpoints } from '../../api/webhooks.ts';
import { useEnvironment } from '../../app/environment.ts';
import { NotFound } from '../../app/not-found.tsx';
import { Link } from '../../parts/link.tsx';
import { isNoSandbox, NoSandbox } from '../../parts/loaded.tsx';
import { Marked } from '../../parts/marked.tsx';
import { Failure } from '../../parts/notice.tsx';
import { Card, Page, Table } from '../../parts/page.tsx';
import { t } from '../../text/language.ts';
import { CATALOGUED_TYPES, pathOfType, subscribersOf, typeNamed } from './catalogue.ts';
import { descriptionOf } from './descriptions.ts';
import { EventTypePage } from './event-type.tsx';
import styles from './event-types.module.css';

export default function EventTypes() {
  const { slug } = useParams<{ slug?: string }>();
  if (slug === undefined) return <EventTypeList />;
  const type = typeNamed(slug);
  return type === undefined ? <NotFound /> : <EventTypePage key={type} type={type} />;
}

function EventTypeList() {
  const { environment } = useEnvironment();
  const { data: endpoints, error, refetch } = useEndpoints(environment);
  if (isNoSandbox(error)) return <NoSandbox title={t.eventTypes.title} />;
  return (
    <Page title={t.eventTypes.title} about={t.eventTypes.about}>
      <Failure title={t.failure.loading} error={error} onRetry={() => void refetch()} />
      <Card>
        <Table
          label={t.eventTypes.title}
          isStacked
          columns={[t.common.type, t.common.description, t.eventTypes.receivers]}
        >
          {CATALOGUED_TYPES.map((type) => (
            <tr key={type}>
              <td>
                <Link to={pathOfType(type)}>
                  <code>{type}</code>
                </Link>
              </td>
              <td>
                <span>
                  <Marked text={descriptionOf(type)} />
                </span>
              </td>
              <td data-label={t.eventTypes.receivers}>
                <span className={styles.received}>{receiversOf(type)}</span>
              </td>
            </tr>
          ))}
        </Table>
      </Card>
    </Page>
  );

  function receiversOf(type: (typeof CATALOGUED_TYPES)[number]): string {
    if (type === 'webhook.test') return t.eventTypes.toTested;
    if (type === 'channel.message' || type === 'channel.test') return t.channels.title;
    if (endpoints === undefined) return error ? t.none : '';
    return t.eventTypes.endpoints(subscribersOf(type, endpoints).length);
  }
}
