import { useState } from 'react';
import { type Endpoint, useEndpoints } from '../../api/webhooks.ts';
import { useEnvironment } from '../../app/environment.ts';
import { useIsAdmin } from '../../app/person.ts';
import { Button, buttonLook } from '../../parts/button.tsx';
import { Link } from '../../parts/link.tsx';
import { LoadedPage } from '../../parts/loaded.tsx';
import { Empty, Notice } from '../../parts/notice.tsx';
import { Card, Facts } from '../../parts/page.tsx';
import { Moment } from '../../parts/time.tsx';
import { t } from '../../text/language.ts';
import { SendAgain } from '../deliveries/bulk.tsx';
import { EndpointName, EndpointUrl, FailuresInARow } from '../endpoint-name.tsx';
import { TestSending } from '../endpoints/test-sending.tsx';
import { type Chain, chainOf } from './chain.ts';
import { RecoveryDone, Steps } from './steps.tsx';
import { LastError, useFailure, WhatHappened } from './what-happened.tsx';

/**
 * From a disabled endpoint to a working one: why it was disabled, what it missed, and the steps of the
 * recovery. E-mails link here, so it also says how an endpoint stands that needs none.
 */
export default function Recover({ id }: { id: string }) {
  const { environment } = useEnvironment();
  const query = useEndpoints(environment);
  const chain = query.data && chainOf(id, query.data);
  return (
    <LoadedPage
      title={t.recover.title}
      about={
        chain === undefined ? undefined : (
          <>
            <EndpointName id={chain.current.id} url={chain.current.url} />
            <EndpointUrl id={chain.current.id} url={chain.current.url} />
          </>
        )
      }
      query={query}
    >
      {() =>
        chain === undefined ? (
          <Empty title={t.endpoints.gone}>
            <Link to="/endpoints">{t.endpoints.back}</Link>
          </Empty>
        ) : (
          <Recovery chain={chain} />
        )
      }
    </LoadedPage>
  );
}

function Recovery({ chain }: { chain: Chain<Endpoint> }) {
  const { current, replaced, failingSince } = chain;
  const isDisabled = current.status === 'auto_disabled';
  const lost = isDisabled ? current : replaced.at(-1);
  if (failingSince === undefined)
    return current.failing === null ? (
      <Notice tone="good" title={t.recover.healthyTitle}>
        <p>{current.status === 'paused' ? t.endpoints.pausedAbout : t.recover.healthyAbout}</p>
        <p>
          <Link to={`/endpoints/${current.id}`}>{t.recover.back}</Link>
        </p>
      </Notice>
    ) : (
      <FailingEndpoint endpoint={current} />
    );
  return (
    <>
      <RecoveryDone chain={chain} />
      {lost === undefined ? null : (
        <WhatHappened
          endpoint={lost}
          failingSince={failingSince}
          state={isDisabled ? (replaced.length > 0 ? 'again' : 'disabled') : 'replaced'}
        />
      )}
      <Steps chain={chain} />
    </>
  );
}

/** An endpoint that fails and is not disabled: how far it is, and what to do before it is. */
function FailingEndpoint({ endpoint }: { endpoint: Endpoint }) {
  const isAdmin = useIsAdmin();
  const [isSending, setSending] = useState(false);
  const { lastError, code } = useFailure(endpoint);
  const since = endpoint.failing?.since ?? null;
  return (
    <>
      <Notice tone="warn" title={t.recover.failingTitle}>
        <p>
          <FailuresInARow endpoint={endpoint} />
        </p>
        <p>{t.recover.failingAbout}</p>
        <Facts
          facts={[
            lastError !== undefined && [
              t.common.lastError,
              <LastError key="error" text={lastError} code={code} />,
            ],
            since !== null && [t.recover.firstFailure, <Moment key="since" at={since} />],
          ]}
        />
      </Notice>
      <Card title={t.endpoints.test}>
        {isAdmin ? <TestSending webhookId={endpoint.id} /> : <p className="quiet">{t.admins}</p>}
      </Card>
      <Card title={t.bulk.title}>
        <div className="row">
          {isAdmin ? <Button onPress={() => setSending(true)}>{t.bulk.title}</Button> : null}
          <Link to={`/deliveries/${endpoint.id}?status=failed`} className={buttonLook('ordinary')}>
            {t.endpoints.allDeliveries}
          </Link>
        </div>
      </Card>
      {isSending ? <SendAgain endpoint={endpoint} onClose={() => setSending(false)} /> : null}
    </>
  );
}
