import { lazy, Suspense } from 'react';
import { useSearchParams } from 'wouter';
import { type Endpoint, useEndpoints } from '../../api/webhooks.ts';
import { useEnvironment } from '../../app/environment.ts';
import { useLoadedLater } from '../../app/load-later.ts';
import { loadFile } from '../../app/page-files.ts';
import { useIsAdmin } from '../../app/person.ts';
import { Button, buttonLook } from '../../parts/button.tsx';
import { Link } from '../../parts/link.tsx';
import { LoadedPage } from '../../parts/loaded.tsx';
import { Empty } from '../../parts/notice.tsx';
import { Card, Table } from '../../parts/page.tsx';
import { Ago } from '../../parts/time.tsx';
import { t } from '../../text/language.ts';
import { EndpointName, EndpointStatus, EndpointUrl, FailuresInARow } from '../endpoint-name.tsx';
import { nameOf } from '../endpoint-options.ts';
import { useFailure } from '../recover/what-happened.tsx';

const load = () => loadFile(() => import('./register.tsx'));
const Register = lazy(async () => ({ default: (await load()).Register }));

/** How far an endpoint that fails is from being disabled, why, and the way back. */
function Trouble({ endpoint }: { endpoint: Endpoint }) {
  const { lastError } = useFailure(endpoint);
  if (endpoint.status !== 'auto_disabled' && endpoint.failing === null) return null;
  return (
    <div className="row">
      <FailuresInARow endpoint={endpoint} />
      {lastError === undefined ? null : <span className="quiet">{lastError}</span>}
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

export default function Endpoints() {
  const { environment } = useEnvironment();
  const isAdmin = useIsAdmin();
  // In the URL, so that other pages lead to the form.
  const [search, setSearch] = useSearchParams();
  const isAdding = isAdmin && search.has(ADD);
  return (
    <LoadedPage
      title={t.endpoints.title}
      about={t.endpoints.about}
      query={useEndpoints(environment)}
      actions={
        isAdmin ? (
          <Button look="primary" onPress={() => setSearch({ [ADD]: '' }, { replace: true })}>
            {t.endpoints.add}
          </Button>
        ) : (
          <span className="quiet">{t.admins}</span>
        )
      }
    >
      {(endpoints) => (
        <>
          {endpoints.length === 0 ? (
            <Empty title={t.overview.emptyTitle}>
              <p>{t.overview.emptyAbout}</p>
            </Empty>
          ) : (
            <Card>
              <Table
                label={t.endpoints.list}
                isStacked
                columns={[t.endpoints.address, t.common.status, t.eventTypes.title, t.common.created]}
              >
                {endpoints.map((endpoint) => (
                  <EndpointRow key={endpoint.id} endpoint={endpoint} />
                ))}
              </Table>
            </Card>
          )}
          {isAdmin ? <Form isOpen={isAdding} onClose={() => setSearch({}, { replace: true })} /> : null}
        </>
      )}
    </LoadedPage>
  );
}

/** The form for a new endpoint, whose file is loaded after the list. */
function Form({ isOpen, onClose }: { isOpen: boolean; onClose: () => void }) {
  useLoadedLater(load);
  return <Suspense>{isOpen ? <Register onClose={onClose} /> : null}</Suspense>;
}

const EndpointRow = ({ endpoint }: { endpoint: Endpoint }) => (
  <tr>
    <td data-url="">
      <Link to={`/endpoints/${endpoint.id}`}>
        <EndpointName id={endpoint.id} url={endpoint.url} />
      </Link>
      <EndpointUrl id={endpoint.id} url={endpoint.url} />
      <Trouble endpoint={endpoint} />
    </td>
    <td data-label={t.common.status}>
      <EndpointStatus endpoint={endpoint} />
    </td>
    <td data-label={t.eventTypes.title}>
      <code>{endpoint.events.join(', ')}</code>
    </td>
    <td data-label={t.common.created}>
      <Ago at={endpoint.createdAt} />
    </td>
  </tr>
);
