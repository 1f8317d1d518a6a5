import { useState } from 'react';
import { useLocation } from 'wouter';
import { isGone } from '../../api/failures.ts';
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
import { masked } from '../../parts/masked.ts';
import { Empty, Failure, Loading, Notice } from '../../parts/notice.tsx';
import { Card, Facts, Page } from '../../parts/page.tsx';
import { Moment } from '../../parts/time.tsx';
import { Url } from '../../parts/url.tsx';
import { useFormat } from '../../text/format.ts';
import { useTexts } from '../../text/language.ts';
import { nameOf } from '../endpoint-options.ts';
import { EndpointStatus } from '../endpoint-status.tsx';
import { FailuresInARow } from '../failures-in-a-row.tsx';
import { useFailure, WhatHappened } from '../recover/what-happened.tsx';
import { Edit } from './edit.tsx';
import { Health } from './health.tsx';
import { PauseButton, PauseState } from './pause.tsx';
import { Register } from './register.tsx';
import { TestSending } from './test-sending.tsx';
import { VerificationCode } from './verification-code.tsx';

/** One endpoint: how it stands, a test, its changes and its end. */
export default function Endpoint({ id }: { id: string }) {
  const t = useTexts();
  const { environment } = useEnvironment();
  const { data: endpoint, error, refetch } = useEndpoint(environment, id);
  const isDeleted = isGone(error);
  if (endpoint !== undefined && !isDeleted) return <Shown endpoint={endpoint} error={error} />;
  return (
    <Page title={t.endpoints.title}>
      <p>
        <Link to="/endpoints">{t.endpoints.back}</Link>
      </p>
      {error === null ? <Loading /> : null}
      {isDeleted ? <Empty title={t.endpoints.gone} /> : null}
      {error !== null && !isDeleted ? (
        <Failure title={t.failure.loading} error={error} onRetry={() => void refetch()} />
      ) : null}
    </Page>
  );
}

function Shown({ endpoint, error }: { endpoint: EndpointData; error: unknown }) {
  const t = useTexts();
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
              <PauseButton endpoint={endpoint} update={pausing} />
              {endpoint.status === 'auto_disabled' ? null : (
                <Button onPress={() => setOpen('replace')}>{t.replace.action}</Button>
              )}
              <Button look="danger" onPress={() => setOpen('delete')}>
                {t.endpoints.delete}
              </Button>
            </>
          ) : (
            <span className="quiet">{t.adminsChange}</span>
          )}
        </>
      }
    >
      {error ? <Failure title={t.failure.loading} error={error} /> : null}
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
      {endpoint.status === 'active' ? (
        <Card title={t.endpoints.test}>
          {isAdmin ? <TestSending webhookId={endpoint.id} /> : <p className="quiet">{t.admins}</p>}
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
  const t = useTexts();
  const { lastError } = useFailure(endpoint);
  if (endpoint.failing === null) return null;
  return (
    <Notice tone="warn" title={t.recover.failingTitle}>
      <p>
        <FailuresInARow endpoint={endpoint} />
        {lastError === undefined ? '' : `: ${lastError}`}
      </p>
      <p>
        <Link to={`/endpoints/${endpoint.id}/recover`}>{t.recover.action}</Link>
      </p>
    </Notice>
  );
}

function EndpointFacts({ endpoint }: { endpoint: EndpointData }) {
  const t = useTexts();
  const format = useFormat();
  const { failing, filter, pausedAt, disabledAt, disabledReason } = endpoint;
  return (
    <Facts
      facts={[
        endpoint.maxPerSecond !== null && [t.endpoints.maxPerSecond, format.number(endpoint.maxPerSecond)],
        [t.endpoints.status, <EndpointStatus key="status" endpoint={endpoint} />],
        [
          t.endpoints.events,
          <ul key="events">
            {endpoint.events.map((type) => (
              <li key={type}>
                <code>{type}</code> <span className="quiet">{t.events[type]}</span>
              </li>
            ))}
          </ul>,
        ],
        !!filter?.channelIds && [t.filter.channelIds, <Values key="channels" values={filter.channelIds} />],
        !!filter?.roles && [t.filter.roles, <Values key="roles" values={filter.roles} />],
        pausedAt !== null && [t.endpoints.pausedAt, <Moment key="paused" at={pausedAt} />],
        failing !== null && [t.endpoints.failuresInARow, <FailuresInARow key="row" endpoint={endpoint} />],
        failing !== null &&
          failing.since !== null && [t.endpoints.failingSince, <Moment key="since" at={failing.since} />],
        disabledAt !== null && [
          t.endpoints.disabledAt,
          <span key="disabled">
            <Moment at={disabledAt} />
            {disabledReason === null ? '' : ` · ${t.endpoints.disabledReason[disabledReason]}`}
          </span>,
        ],
        [t.endpoints.created, <Moment key="created" at={endpoint.createdAt} />],
        [t.endpoints.id, <CopyId key="id" id={endpoint.id} what={t.endpoints.id} />],
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
  const t = useTexts();
  const { environment, to } = useEnvironment();
  const [, navigate] = useLocation();
  const remove = useDelete(environment, endpoint.id);
  return (
    <Confirm
      title={t.endpoints.deleteTitle}
      action={t.endpoints.deleteAction}
      typed={endpoint.description ?? endpoint.url}
      typedLabel={endpoint.description === null ? t.endpoints.deleteTyped : t.endpoints.deleteTypedName}
      isPending={remove.isPending}
      error={remove.error}
      onConfirm={() => remove.mutate(undefined, { onSuccess: () => navigate(to('/endpoints')) })}
      onClose={onClose}
    >
      <p>{t.endpoints.deleteAbout}</p>
    </Confirm>
  );
}
