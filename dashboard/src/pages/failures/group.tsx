import { useState } from 'react';
import type { Schema } from '../../api/client.ts';
import { useIsAdmin } from '../../app/person.ts';
import { Button } from '../../parts/button.tsx';
import { Code } from '../../parts/code.tsx';
import { Link } from '../../parts/link.tsx';
import { masked } from '../../parts/masked.ts';
import { Facts } from '../../parts/page.tsx';
import { Status } from '../../parts/status.tsx';
import { Ago } from '../../parts/time.tsx';
import { errorText } from '../../text/error-text.ts';
import { format, t } from '../../text/language.ts';
import { EndpointName } from '../endpoint-name.tsx';
import { CauseLink } from '../failure-cause.tsx';
import { attentionOf } from '../overview/attention.ts';
import styles from './failures.module.css';
import type { FailureGroup } from './groups.ts';
import { ResendGroup } from './resend-group.tsx';

type EndpointRow = Schema<'DeliveryStats'>['endpoints'][number];

const SHOWN = 10;
const STEP = 100;
const HEADING = 160;

/** Deliveries that failed for one cause: how many, where, since when, and resending them. */
export function Group({
  group,
  endpoints,
  onResent,
}: {
  group: FailureGroup;
  endpoints: readonly EndpointRow[];
  onResent: () => void;
}) {
  const isAdmin = useIsAdmin();
  const [isAsked, setAsked] = useState(false);
  const { status, deliveries } = group;
  const [newest] = deliveries;
  const cause = status === null && newest !== undefined ? errorText(newest) : shortened(group.example);
  const isOpen = (id: string) => endpoints.some((each) => each.webhookId === id && each.status === 'active');
  const isOpenAnywhere = group.endpoints.some(({ id }) => isOpen(id));
  const retrying = deliveries.filter((delivery) => delivery.status === 'retrying').length;
  const name = `${status ?? t.failures.noResponse} ${cause === '' ? t.failures.noMessage : cause}`;
  return (
    <>
      <div className={styles.head}>
        <span className={styles.count}>{t.failures.times(format.number(deliveries.length))}</span>
        <Status tone="bad">{status ?? t.failures.noResponse}</Status>
        <h2 className={styles.cause}>
          <bdi>{cause === '' ? t.failures.noMessage : cause}</bdi>
        </h2>
      </div>
      <Facts
        facts={[
          [t.failures.first, <Ago key="first" at={group.firstAt} />],
          [t.failures.last, <Ago key="last" at={group.lastAt} />],
          [t.endpoints.title, <Endpoints key="endpoints" group={group} endpoints={endpoints} />],
        ]}
      />
      <p>
        <CauseLink code={newest?.lastErrorCode ?? null} />
      </p>
      {retrying === 0 ? null : <p>{t.failures.retrying(retrying, format.number(retrying))}.</p>}
      {cause.length === group.example.length || status === null ? null : (
        <details>
          <summary>{t.failures.example}</summary>
          <Code text={group.example} label={t.failures.example} isWrapped />
        </details>
      )}
      <Deliveries group={group} />
      {isAdmin && isOpenAnywhere ? (
        <div>
          <Button aria-label={t.failures.resendOf(name)} onPress={() => setAsked(true)}>
            {t.failures.resend}
          </Button>
        </div>
      ) : null}
      {isAdmin ? null : <p className="quiet">{t.admins}</p>}
      {isAsked ? (
        <ResendGroup
          group={group}
          isOpen={isOpen}
          onClose={(hasSent) => {
            setAsked(false);
            if (hasSent) onResent();
          }}
        />
      ) : null}
    </>
  );
}

/** As much of a message as a heading has room for. */
function shortened(message: string): string {
  const line = message.replaceAll(/\s+/g, ' ').trim();
  return line.length > HEADING ? `${line.slice(0, HEADING)}…` : line;
}

const Endpoints = ({ group, endpoints }: { group: FailureGroup; endpoints: readonly EndpointRow[] }) => (
  <ul className={styles.list}>
    {group.endpoints.map(({ id, count }) => {
      const endpoint = endpoints.find(({ webhookId }) => webhookId === id);
      const isReplaced = endpoint !== undefined && attentionOf(endpoint, endpoints) === 'replaced';
      return (
        <li key={id}>
          <Link to={`/deliveries/${id}?status=exhausted`}>
            {endpoint === undefined ? <code>{id}</code> : <EndpointName id={id} url={endpoint.url} />}
          </Link>{' '}
          <span className="quiet">{t.failures.deliveries(count, format.number(count))}</span>
          {endpoint?.status === 'paused' ? ` · ${t.status.paused}` : null}
          {endpoint?.status === 'auto_disabled' ? (
            <>
              {'\u00a0· '}
              {isReplaced ? t.overview.attentions.replaced : t.failures.disabledEndpoints}{' '}
              <Link
                to={`/endpoints/${id}/recover`}
                aria-label={`${isReplaced ? t.overview.seeRecovery : t.recover.action}: ${masked(endpoint.url)}`}
              >
                {isReplaced ? t.overview.seeRecovery : t.recover.action}
              </Link>
            </>
          ) : null}
        </li>
      );
    })}
  </ul>
);

function Deliveries({ group: { deliveries } }: { group: FailureGroup }) {
  const [shown, setShown] = useState(SHOWN);
  return (
    <details>
      <summary>{t.failures.deliveries(deliveries.length, format.number(deliveries.length))}</summary>
      <ul className={styles.list}>
        {deliveries.slice(0, shown).map(({ id, webhookId, eventType, createdAt }) => (
          <li key={id}>
            <Link to={`/deliveries/${webhookId}/${id}`}>
              <code>{eventType}</code>
            </Link>{' '}
            <span className="quiet">
              <Ago at={createdAt} />
            </span>
          </li>
        ))}
      </ul>
      {deliveries.length > shown ? (
        <Button look="plain" onPress={() => setShown(shown + STEP)}>
          {t.failures.more}
        </Button>
      ) : null}
    </details>
  );
}
