import type { Schema } from '../../api/client.ts';
import { Table } from '../../parts/page.tsx';
import { format, t } from '../../text/language.ts';
import styles from './usage.module.css';

export type Month = Schema<'UsageOfMonth'>;

/** Usage by month, newest first; the first month is the current one. */
export function Months({ months }: { months: readonly Month[] }) {
  const sum = (count: 'conversations' | 'messages') =>
    format.number(months.reduce((total, month) => total + month[count], 0));
  return (
    <Table
      label={t.usage.range}
      columns={[t.usage.month]}
      numbers={[t.usage.conversations, t.usage.messages]}
    >
      {months.map(({ month, conversations, messages }, index) => (
        <tr key={month}>
          <th scope="row">
            <span className={styles.name}>{format.month(month)}</span>{' '}
            {index === 0 ? <span className={styles.about}>({t.usage.current})</span> : null}
          </th>
          <td data-number>{format.number(conversations)}</td>
          <td data-number>{format.number(messages)}</td>
        </tr>
      ))}
      <tr>
        <th scope="row">
          <strong>{t.usage.total}</strong>
        </th>
        <td data-number>
          <strong>{sum('conversations')}</strong>
        </td>
        <td data-number>
          <strong>{sum('messages')}</strong>
        </td>
      </tr>
    </Table>
  );
}
