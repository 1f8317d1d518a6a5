import type { Schema } from '../../api/client.ts';
import { Link } from '../../parts/link.tsx';
import { Table } from '../../parts/page.tsx';
import { format, t } from '../../text/language.ts';
import { EndpointName, EndpointUrl } from '../endpoint-name.tsx';
import { EndpointStatus } from '../endpoint-status.tsx';
import { type ListTime, listOfEndpoint } from './lists.ts';
import styles from './overview.module.css';

type Row = Schema<'DeliveryStats'>['endpoints'][number];

const OUTCOMES = ['succeeded', 'exhausted', 'skipped', 'pending'] as const;

/** Each endpoint with what became of its deliveries. */
export function EndpointRows({ endpoints, time }: { endpoints: readonly Row[]; time: ListTime }) {
  const names = { ...t.status, pending: t.common.open };
  const hasLatency = endpoints.some(({ latency }) => latency);
  return (
    <Table
      label={t.endpoints.title}
      isStacked="early"
      columns={[t.endpoints.address, t.common.status]}
      numbers={[
        ...OUTCOMES.map((outcome) => names[outcome]),
        ...(hasLatency ? [`${t.numbers.latency} ${t.numbers.latencyHead}`] : []),
      ]}
    >
      {endpoints.map((row) => (
        <tr key={row.webhookId}>
          <td data-url="">
            <Link to={`/endpoints/${row.webhookId}`} className={styles.address}>
              <EndpointName id={row.webhookId} url={row.url} />
            </Link>
            <EndpointUrl id={row.webhookId} url={row.url} />
          </td>
          <td data-label={t.common.status}>
            <EndpointStatus endpoint={row} />
          </td>
          {OUTCOMES.map((outcome) => (
            <td key={outcome} data-number="" data-label={names[outcome]}>
              <Count
                value={row.totals[outcome]}
                name={names[outcome]}
                to={listOfEndpoint(row.webhookId, outcome, time)}
              />
            </td>
          ))}
          {hasLatency ? (
            <td data-number="" data-wide="" data-label={t.numbers.latency}>
              <Latency row={row} />
            </td>
          ) : null}
        </tr>
      ))}
    </Table>
  );
}

/** @param to the list that the value counts */
function Count({ value, name, to }: { value: number; name: string; to: string }) {
  const written = format.number(value);
  return value === 0 ? (
    <span>{written}</span>
  ) : (
    <Link to={to} aria-label={t.numbers.seeList(name, written)}>
      {written}
    </Link>
  );
}

const Latency = ({ row: { latency } }: { row: Row }) => (
  <span>
    {latency ? t.numbers.latencyOf(format.duration(latency.p50Ms), format.duration(latency.p95Ms)) : '–'}
  </span>
);
