import type { Schema } from '../../api/client.ts';
import { Link } from '../../parts/link.tsx';
import { Table } from '../../parts/page.tsx';
import { Url } from '../../parts/url.tsx';
import { useFormat } from '../../text/format.ts';
import { useTexts } from '../../text/language.ts';
import { EndpointStatus } from '../endpoint-status.tsx';
import styles from './overview.module.css';

/** Each endpoint with what became of its deliveries. */
export function EndpointRows({ endpoints }: { endpoints: Schema<'DeliveryStats'>['endpoints'] }) {
  const t = useTexts();
  const format = useFormat();
  return (
    <Table
      label={t.overview.endpoints}
      isStacked
      head={
        <tr>
          <th scope="col">{t.endpoints.address}</th>
          <th scope="col">{t.endpoints.status}</th>
          <th scope="col" data-number="">
            {t.overview.succeeded}
          </th>
          <th scope="col" data-number="">
            {t.overview.failed}
          </th>
          <th scope="col" data-number="">
            {t.overview.skipped}
          </th>
          <th scope="col" data-number="">
            {t.overview.open}
          </th>
        </tr>
      }
    >
      {endpoints.map((row) => (
        <tr key={row.webhookId}>
          <td>
            <Link to={`/endpoints/${row.webhookId}`} className={styles.address}>
              <Url url={row.url} />
            </Link>
          </td>
          <td data-label={t.endpoints.status}>
            <EndpointStatus endpoint={row} />
          </td>
          <td data-number="" data-label={t.overview.succeeded}>
            {format.number(row.totals.succeeded)}
          </td>
          <td data-number="" data-label={t.overview.failed}>
            {format.number(row.totals.exhausted)}
          </td>
          <td data-number="" data-label={t.overview.skipped}>
            {format.number(row.totals.skipped)}
          </td>
          <td data-number="" data-label={t.overview.open}>
            {format.number(row.totals.pending)}
          </td>
        </tr>
      ))}
    </Table>
  );
}
