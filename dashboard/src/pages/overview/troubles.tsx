import type { ReactNode } from 'react';
import type { Schema } from '../../api/client.ts';
import { useLastFailures } from '../../api/webhooks.ts';
import { useEnvironment } from '../../app/environment.ts';
import { buttonLook } from '../../parts/button.tsx';
import { Link } from '../../parts/link.tsx';
import { masked } from '../../parts/masked.ts';
import { Status, type Tone } from '../../parts/status.tsx';
import { Ago, Moment } from '../../parts/time.tsx';
import { errorText } from '../../text/error-text.ts';
import { format, t } from '../../text/language.ts';
import { EndpointName, EndpointUrl, FailuresInARow } from '../endpoint-name.tsx';
import { type Attention, listAttention } from './attention.ts';
import styles from './overview.module.css';

type Row = Schema<'DeliveryStats'>['endpoints'][number];

const TONES = {
  disabled: 'bad',
  failing: 'warn',
  waiting: 'warn',
  replaced: 'idle',
} as const satisfies Record<Attention, Tone>;

/**
 * Endpoints that fail, are disabled, or keep deliveries waiting: what would disable them, when, and where it
 * says why.
 */
export function Troubles({ endpoints }: { endpoints: readonly Row[] }) {
  const troubled = listAttention(endpoints);
  if (troubled.length === 0) return <p>{t.overview.allWell}</p>;
  return (
    <ul className={styles.troubles}>
      {troubled.map(({ row, attention }) => (
        <Trouble key={row.webhookId} row={row} attention={attention} />
      ))}
    </ul>
  );
}

function Trouble({ row, attention }: { row: Row; attention: Attention }) {
  const status = attention === 'waiting' ? 'open' : 'failed';
  return (
    <li className={styles.trouble}>
      <div className="row">
        <Status tone={TONES[attention]}>{t.overview.attentions[attention]}</Status>
        <Link to={`/endpoints/${row.webhookId}`} className={styles.address}>
          <EndpointName id={row.webhookId} url={row.url} />
        </Link>
      </div>
      <EndpointUrl id={row.webhookId} url={row.url} />
      {attention === 'disabled' ? <Disabled row={row} /> : null}
      {attention === 'failing' ? <Failing row={row} /> : null}
      {attention === 'waiting' ? <Waiting row={row} /> : null}
      {attention === 'replaced' ? <p>{t.overview.replacedAbout}</p> : null}
      {attention === 'disabled' || attention === 'failing' ? <LastError row={row} /> : null}
      <p className="row">
        {attention === 'waiting' ? null : (
          <Link
            to={`/endpoints/${row.webhookId}/recover`}
            className={buttonLook(attention === 'disabled' ? 'primary' : 'ordinary')}
            aria-label={`${attention === 'replaced' ? t.overview.seeRecovery : t.recover.action}: ${masked(row.url)}`}
          >
            {attention === 'replaced' ? t.overview.seeRecovery : t.recover.action}
          </Link>
        )}
        {attention === 'replaced' ? null : (
          <Link to={`/deliveries/${row.webhookId}?status=${status}`}>{t.overview.why}</Link>
        )}
      </p>
    </li>
  );
}

const Disabled = ({ row: { disabledAt, disabledReason } }: { row: Row }) => (
  <p>
    {disabledAt === null ? null : (
      <>
        {t.status.auto_disabled}: <Ago at={disabledAt} />.{' '}
      </>
    )}
    {disabledReason === null ? null : `${t.endpoints.disabledReason[disabledReason]}. `}
    {t.overview.disabledAbout}
  </p>
);

function LastError({ row: { webhookId: id, disabledAt, consecutiveFailures: failures } }: { row: Row }) {
  const { environment } = useEnvironment();
  const { data } = useLastFailures(environment, { id, until: disabledAt, failures });
  const last = data?.[0];
  if (data !== undefined && (last === undefined || last.lastError === null)) return null;
  // The line is there before what it says, so that nothing below it moves.
  return (
    <p>
      {t.common.lastError}: {last === undefined ? '…' : errorText(last)}
    </p>
  );
}

function Failing({ row }: { row: Row }) {
  const { failing, consecutiveFailures } = row;
  if (failing === null) return null;
  const { since, disablesAt, failuresUntilDisabled } = failing;
  return (
    <p>
      <FailuresInARow endpoint={row} />
      {since === null ? null : (
        <Aside>
          {consecutiveFailures === 1 ? null : `${t.overview.failuresSince} `}
          <Ago at={since} />
        </Aside>
      )}
      .{' '}
      {disablesAt === null ? (
        `${t.overview.disablesAfter(failuresUntilDisabled)}.`
      ) : (
        <>
          {t.overview.disables}: <Ago at={disablesAt} />
          <Aside>
            <Moment at={disablesAt} />
          </Aside>
          .
        </>
      )}
    </p>
  );
}

function Waiting({ row: { totals, waitingSince } }: { row: Row }) {
  if (waitingSince === null) return null;
  return (
    <p>
      {t.overview.waiting(totals.pending, format.number(totals.pending))}. {t.overview.longestWait}{' '}
      <Ago at={waitingSince} />.
    </p>
  );
}

const Aside = ({ children }: { children: ReactNode }) => <> ({children})</>;
