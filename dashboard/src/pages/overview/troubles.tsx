import type { Schema } from '../../api/client.ts';
import { Link } from '../../parts/link.tsx';
import { Status } from '../../parts/status.tsx';
import { Ago, Moment } from '../../parts/time.tsx';
import { useTexts } from '../../text/language.ts';
import styles from './overview.module.css';

type Row = Schema<'DeliveryStats'>['endpoints'][number];

/** Endpoints that fail or are disabled: what would disable them, when, and where it says why. */
export function Troubles({ endpoints }: { endpoints: readonly Row[] }) {
  const t = useTexts();
  const troubled = endpoints.filter(({ failing, status }) => failing !== null || status === 'auto_disabled');
  if (troubled.length === 0) return <p>{t.overview.allWell}</p>;
  return (
    <ul className={styles.troubles}>
      {troubled.map((row) => (
        <Trouble key={row.webhookId} row={row} />
      ))}
    </ul>
  );
}

function Trouble({ row }: { row: Row }) {
  const t = useTexts();
  const { failing, webhookId, url, disabledAt } = row;
  return (
    <li className={styles.trouble}>
      <div className="row">
        <Status tone={failing === null ? 'idle' : 'bad'}>
          {failing === null ? t.status.auto_disabled : t.status.failing}
        </Status>
        <Link to={`/endpoints/${webhookId}`} className={styles.address}>
          {url}
        </Link>
      </div>
      {failing === null ? (
        <p>
          {t.overview.disabled}{' '}
          {disabledAt === null ? null : (
            <>
              <Ago at={disabledAt} />.{' '}
            </>
          )}
          {t.overview.disabledAbout}
        </p>
      ) : (
        <p>
          {t.overview.failures(row.consecutiveFailures)}
          {failing.since === null ? null : (
            <>
              , {t.overview.failuresSince} <Ago at={failing.since} />
            </>
          )}
          .{' '}
          {failing.disablesAt === null ? (
            `${t.overview.disablesAfter(failing.failuresUntilDisabled)}.`
          ) : (
            <>
              {t.overview.disables}: <Ago at={failing.disablesAt} /> (<Moment at={failing.disablesAt} />
              ).
            </>
          )}
        </p>
      )}
      <p>
        <Link to={`/deliveries/${webhookId}?status=failed`}>{t.overview.why}</Link>
      </p>
    </li>
  );
}
