import { type Endpoint, useEndpoints } from '../../api/webhooks.ts';
import { useEnvironment } from '../../app/environment.ts';
import { Link } from '../../parts/link.tsx';
import { Empty, Failure, Loading, Notice } from '../../parts/notice.tsx';
import { Page } from '../../parts/page.tsx';
import { t } from '../../text/language.ts';
import { EndpointName, EndpointUrl } from '../endpoint-name.tsx';
import { isNoSandbox, NoSandbox } from '../no-sandbox.tsx';
import { type Chain, chainOf } from './chain.ts';
import { RecoveryDone } from './delete-step.tsx';
import { FailingEndpoint } from './failing.tsx';
import { Steps } from './steps.tsx';
import { WhatHappened } from './what-happened.tsx';

/**
 * From a disabled endpoint to a working one: why it was disabled, what it missed, and the steps of the
 * recovery. E-mails link here, so it also says how an endpoint stands that needs none.
 */
export default function Recover({ id }: { id: string }) {
  const { environment } = useEnvironment();
  const { data: endpoints, error, refetch } = useEndpoints(environment);
  if (isNoSandbox(error)) return <NoSandbox title={t.recover.title} />;
  const chain = endpoints === undefined ? undefined : chainOf(id, endpoints);
  return (
    <Page
      title={t.recover.title}
      about={
        chain === undefined ? undefined : (
          <>
            <EndpointName id={chain.current.id} url={chain.current.url} />
            <EndpointUrl id={chain.current.id} url={chain.current.url} />
          </>
        )
      }
    >
      {error ? <Failure title={t.failure.loading} error={error} onRetry={() => void refetch()} /> : null}
      {endpoints === undefined && !error ? <Loading /> : null}
      {endpoints !== undefined && chain === undefined ? (
        <Empty title={t.endpoints.gone}>
          <Link to="/endpoints">{t.endpoints.back}</Link>
        </Empty>
      ) : null}
      {chain === undefined ? null : <Recovery chain={chain} />}
    </Page>
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
