import { useState } from 'react';
import { useLocation } from 'wouter';
import {
  type Endpoint as EndpointData,
  useDelete,
  useEndpoint,
  useEndpoints,
  useUpdate,
} from '../../api/webhooks.ts';
import { useEnvironment } from '../../app/environment.ts';
import { useIsAdmin } from '../../app/person.ts';
import { Button, buttonLook } from '../../parts/button.tsx';
import { Confirm } from '../../parts/confirm.tsx';
import { CopyButton, CopyId } from '../../parts/copy.tsx';
import { Link } from '../../parts/link.tsx';
import { OnePage } from '../../parts/loaded.tsx';
import { masked } from '../../parts/masked.ts';
import { Failure } from '../../parts/notice.tsx';
import { Card, Facts, Page } from '../../parts/page.tsx';
import { Moment } from '../../parts/time.tsx';
import { Url } from '../../parts/url.tsx';
import { format, t } from '../../text/language.ts';
import { EndpointStatus, FailingNotice, FailuresInARow } from '../endpoint-name.tsx';
import { nameOf } from '../endpoint-options.ts';
import { useFailure, WhatHappened } from '../recover/what-happened.tsx';
import { Health } from './health.tsx';
import { PauseButton, PauseState } from './pause.tsx';
import { Edit, Register } from './register.tsx';
import { VerificationCode } from './registered.tsx';
import { TestSending } from './test-sending.tsx';

export default function Endpoint({ id }: { id: string }) {
  const { environment } = useEnvironment();
  const query = useEndpoint(environment, id);
  return (
    <OnePage
      query={query}
      title={t.endpoints.title}
      gone={t.endpoints.gone}
      list={['/endpoints', t.endpoints.back]}
    >
      {(endpoint) => <Shown endpoint={endpoint} error={query.error} />}
    </OnePage>
  );
}

function Shown({ endpoint, error }: { endpoint: EndpointData; error: unknown }) {
  const isAdmin = useIsAdmin();
  const { environment } = useEnvironment();
  const [open, setOpen] = useState<'edit' | 'replace' | 'delete'>();
  const pausing = useUpdate(environment, endpoint.id);
  const { data: all = [] } = useEndpoints(environment, false);
  const isReplaced = all.some(({ url, status }) => url === endpoint.url && status !== 'auto_disabled');
  return (
    <Page
      title={nameOf(endpoint)}
      heading={endpoint.description === null ? <Url url={endpoint.url} /> : <bdi>{endpoint.description}</bdi>}
      about={
        <>
          <code>{masked(endpoint.url)}</code> <CopyButton text={endpoint.url} what={t.endpoints.address} />
        </>
      }
      actions={
        <>
          <Link to={`/deliveries/${endpoint.id}`} className={buttonLook('ordinary')}>
            {t.endpoints.allDeliveries}
          </Link>
          {isAdmin ? (
            <>
              <Button onPress={() => setOpen('edit')}>{t.endpoints.edit}</Button>
              {endpoint.status === 'auto_disabled' ? null : (
                <>
                  <PauseButton isActive={endpoint.status === 'active'} texts={t.endpoints} sent={pausing} />
                  <Button onPress={() => setOpen('replace')}>{t.replace.action}</Button>
                </>
              )}
              <Button look="danger" onPress={() => setOpen('delete')}>
                {t.common.delete}
              </Button>
            </>
          ) : (
            <span className="quiet">{t.admins}</span>
          )}
        </>
      }
    >
      <Failure title={t.failure.loading} error={error} />
      {endpoint.status === 'auto_disabled' ? (
        <WhatHappened
          endpoint={endpoint}
          failingSince={endpoint.disabledAt ?? endpoint.createdAt}
          state={isReplaced ? 'replaced' : 'disabled'}
        >
          <p>
            <Link
              to={`/endpoints/${endpoint.id}/recover`}
              className={buttonLook(isReplaced ? 'ordinary' : 'primary')}
            >
              {isReplaced ? t.overview.seeRecovery : t.recover.action}
            </Link>
          </p>
        </WhatHappened>
      ) : null}
      <Failing endpoint={endpoint} />
      <PauseState endpoint={endpoint} update={pausing} />
      <Health endpoint={endpoint} />
      {isAdmin && endpoint.status === 'active' ? (
        <Card title={t.endpoints.test}>
          <TestSending webhookId={endpoint.id} />
        </Card>
      ) : null}
      <Card>
        <EndpointFacts endpoint={endpoint} />
        <VerificationCode />
      </Card>
      {open === 'edit' ? <Edit endpoint={endpoint} onClose={() => setOpen(undefined)} /> : null}
      {open === 'replace' ? <Register replaced={endpoint} onClose={() => setOpen(undefined)} /> : null}
      {open === 'delete' ? <Delete endpoint={endpoint} onClose={() => setOpen(undefined)} /> : null}
    </Page>
  );
}

/** How far a failing endpoint is from being disabled, and why. */
function Failing({ endpoint }: { endpoint: EndpointData }) {
  const { lastError } = useFailure(endpoint);
  return (
    <FailingNotice endpoint={endpoint} lastError={lastError}>
      <p>
        <Link to={`/endpoints/${endpoint.id}/recover`}>{t.recover.action}</Link>
      </p>
    </FailingNotice>
  );
}

function EndpointFacts({ endpoint }: { endpoint: EndpointData }) {
  const { failing, filter, pausedAt, disabledAt, disabledReason } = endpoint;
  return (
    <Facts
      facts={[
        endpoint.maxPerSecond !== null && [t.endpoints.maxPerSecond, format.number(endpoint.maxPerSecond)],
        [t.common.status, <EndpointStatus key="status" endpoint={endpoint} />],
        [
          t.eventTypes.title,
          <ul key="events">
            {endpoint.events.map((type) => (
              <li key={type}>
                <code>{type}</code> <span className="quiet">{t.events[type]}</span>
              </li>
            ))}
          </ul>,
        ],
        !!filter?.channelIds && [t.channels.title, <Values key="channels" values={filter.channelIds} />],
        !!filter?.roles && [t.filter.roles, <Values key="roles" values={filter.roles} />],
        pausedAt !== null && [t.endpoints.pausedAt, <Moment key="paused" at={pausedAt} />],
        failing !== null && [t.endpoints.failuresInARow, <FailuresInARow key="row" endpoint={endpoint} />],
        failing !== null &&
          failing.since !== null && [t.endpoints.failingSince, <Moment key="since" at={failing.since} />],
        disabledAt !== null && [
          t.status.auto_disabled,
          <span key="disabled">
            <Moment at={disabledAt} />
            {disabledReason === null ? '' : ` · ${t.endpoints.disabledReason[disabledReason]}`}
          </span>,
        ],
        [t.common.created, <Moment key="created" at={endpoint.createdAt} />],
        [t.common.id, <CopyId key="id" id={endpoint.id} what={t.common.id} />],
      ]}
    />
  );
}

const Values = ({ values }: { values: readonly string[] }) => (
  <ul>
    {values.map((value) => (
      <li key={value}>
        <code>{value}</code>
      </li>
    ))}
  </ul>
);

function Delete({ endpoint, onClose }: { endpoint: EndpointData; onClose: () => void }) {
  const { environment, to } = useEnvironment();
  const [, navigate] = useLocation();
  const remove = useDelete(environment, endpoint.id);
  return (
    <Confirm
      title={t.endpoints.deleteTitle}
      action={t.endpoints.deleteAction}
      typed={endpoint.description ?? endpoint.url}
      typedLabel={endpoint.description === null ? t.endpoints.deleteTyped : t.endpoints.deleteTypedName}
      sent={remove}
      onConfirm={() => remove.mutate(undefined, { onSuccess: () => navigate(to('/endpoints')) })}
      onClose={onClose}
    >
      <p>{t.endpoints.deleteAbout}</p>
    </Confirm>
  );
}
