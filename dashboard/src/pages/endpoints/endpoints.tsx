import { useSearchParams } from 'wouter';
import { type Endpoint, useEndpoints } from '../../api/webhooks.ts';
import { useEnvironment } from '../../app/environment.ts';
import { useIsAdmin } from '../../app/person.ts';
import { Button, buttonLook } from '../../parts/button.tsx';
import { Link } from '../../parts/link.tsx';
import { Empty, Failure, Loading } from '../../parts/notice.tsx';
import { Card, Page, Table } from '../../parts/page.tsx';
import { Ago } from '../../parts/time.tsx';
import { useTexts } from '../../text/language.ts';
import { EndpointName, EndpointUrl } from '../endpoint-name.tsx';
import { nameOf } from '../endpoint-options.ts';
import { EndpointStatus } from '../endpoint-status.tsx';
import { FailuresInARow } from '../failures-in-a-row.tsx';
import { isNoSandbox, NoSandbox } from '../no-sandbox.tsx';
import { useFailure } from '../recover/what-happened.tsx';
import { Register } from './register.tsx';

/** How far an endpoint that fails is from being disabled, why, and the way back. */
function Trouble({ endpoint }: { endpoint: Endpoint }) {
  const t = useTexts();
  const { lastError } = useFailure(endpoint);
  if (endpoint.status !== 'auto_disabled' && endpoint.failing === null) return null;
  return (
    <div className="row">
      <FailuresInARow endpoint={endpoint} />
      <span className="quiet">{lastError}</span>
      <Link
        to={`/endpoints/${endpoint.id}/recover`}
        className={buttonLook('ordinary')}
        aria-label={t.recover.actionOf(nameOf(endpoint))}
      >
        {t.recover.action}
      </Link>
    </div>
  );
}

const ADD = 'add';

/** The organization's webhook endpoints. */
export default function Endpoints() {
  const t = useTexts();
  const { environment } = useEnvironment();
  const isAdmin = useIsAdmin();
  // In the URL, so that other pages lead to the form.
  const [search, setSearch] = useSearchParams();
  const isAdding = isAdmin && search.has(ADD);
  const { data: endpoints, error, refetch } = useEndpoints(environment);
  if (isNoSandbox(error)) return <NoSandbox title={t.endpoints.title} />;
  return (
    <Page
      title={t.endpoints.title}
      about={t.endpoints.about}
      actions={
        isAdmin ? (
          <Button look="primary" onPress={() => setSearch({ [ADD]: '' }, { replace: true })}>
            {t.endpoints.add}
          </Button>
        ) : (
          <span className="quiet">{t.adminsChange}</span>
        )
      }
    >
      {error ? <Failure title={t.failure.loading} error={error} onRetry={() => void refetch()} /> : null}
      {endpoints === undefined && !error ? <Loading /> : null}
      {endpoints?.length === 0 ? (
        <Empty title={t.overview.emptyTitle}>
          <p>{t.overview.emptyAbout}</p>
        </Empty>
      ) : null}
      {endpoints !== undefined && endpoints.length > 0 ? (
        <Card>
          <Table
            label={t.endpoints.list}
            isStacked
            head={
              <tr>
                <th scope="col">{t.endpoints.address}</th>
                <th scope="col">{t.endpoints.status}</th>
                <th scope="col">{t.endpoints.events}</th>
                <th scope="col">{t.endpoints.created}</th>
              </tr>
            }
          >
            {endpoints.map((endpoint) => (
              <tr key={endpoint.id}>
                <td data-url="">
                  <Link to={`/endpoints/${endpoint.id}`}>
                    <EndpointName id={endpoint.id} url={endpoint.url} />
                  </Link>
                  <EndpointUrl id={endpoint.id} url={endpoint.url} />
                  <Trouble endpoint={endpoint} />
                </td>
                <td data-label={t.endpoints.status}>
                  <EndpointStatus endpoint={endpoint} />
                </td>
                <td data-label={t.endpoints.events}>
                  <code>{endpoint.events.join(', ')}</code>
                </td>
                <td data-label={t.endpoints.created}>
                  <Ago at={endpoint.createdAt} />
                </td>
              </tr>
            ))}
          </Table>
        </Card>
      ) : null}
      {isAdding ? <Register onClose={() => setSearch({}, { replace: true })} /> : null}
    </Page>
  );
}
