import { type Endpoint, useEndpoints } from '../../api/webhooks.ts';
import { useEnvironment } from '../../app/environment.ts';
import { Link } from '../../parts/link.tsx';
import { LoadedPage } from '../../parts/loaded.tsx';
import { Empty, Notice } from '../../parts/notice.tsx';
import { t } from '../../text/language.ts';
import { EndpointName, EndpointUrl } from '../endpoint-name.tsx';
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
