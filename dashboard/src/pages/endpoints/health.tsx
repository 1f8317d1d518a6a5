import { type Endpoint, useEndpointStats, useLastFailures } from '../../api/webhooks.ts';
import { useEnvironment } from '../../app/environment.ts';
import { Link } from '../../parts/link.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { Card, Table } from '../../parts/page.tsx';
import { Ago } from '../../parts/time.tsx';
import { errorText } from '../../text/error-text.ts';
import { format, t } from '../../text/language.ts';
import { Chart, Figure, Outcomes, useRange } from '../overview/figures.tsx';
import { listOfEndpoint } from '../overview/lists.ts';

const SHOWN = 5;

/** What became of an endpoint's deliveries, how long attempts take, and why the last ones failed. */
export function Health({ endpoint }: { endpoint: Endpoint }) {
  const { environment } = useEnvironment();
  const { hours, time, field } = useRange();
  const query = useEndpointStats(environment, endpoint.id, hours);
  return (
    <Card title={t.endpoints.health} actions={field}>
      <Loaded query={query}>
        {(stats) => (
          <>
            <Outcomes totals={stats.totals} to={(outcome) => listOfEndpoint(endpoint.id, outcome, time)}>
              <Figure
                name={t.numbers.latency}
                value={stats.latency === null ? '–' : format.duration(stats.latency.p50Ms)}
              >
                {stats.latency === null ? '' : t.numbers.latencySlow(format.duration(stats.latency.p95Ms))}
              </Figure>
            </Outcomes>
            <Chart stats={stats} endpoint={endpoint.id} />
          </>
        )}
      </Loaded>
      <LastFailures endpoint={endpoint} />
    </Card>
  );
}

function LastFailures({ endpoint: { id, disabledAt, consecutiveFailures } }: { endpoint: Endpoint }) {
  const { environment } = useEnvironment();
  const { data = [] } = useLastFailures(environment, {
    id,
    until: disabledAt,
    failures: consecutiveFailures,
  });
  if (data.length === 0) return null;
  return (
    <>
      <div className="row">
        <h3>{t.endpoints.lastFailures}</h3>
        <Link to={`/deliveries/${id}?status=failed`}>{t.endpoints.allFailures}</Link>
      </div>
      <Table
        label={t.endpoints.lastFailures}
        isStacked
        columns={[t.eventLog.one, t.common.lastError, t.common.created]}
      >
        {data.slice(0, SHOWN).map((delivery) => (
          <tr key={delivery.id}>
            <td>
              <Link to={`/deliveries/${id}/${delivery.id}`}>
                <code>{delivery.eventType}</code>
              </Link>
            </td>
            <td data-label={t.common.lastError}>
              <span>{errorText(delivery)}</span>
            </td>
            <td data-label={t.common.created}>
              <Ago at={delivery.createdAt} />
            </td>
          </tr>
        ))}
      </Table>
    </>
  );
}
