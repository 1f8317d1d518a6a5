import { type Channel, useChannel, usePause } from '../../api/channels.ts';
import { useJobs } from '../../api/redeliveries.ts';
import { useEnvironment } from '../../app/environment.ts';
import { useIsAdmin } from '../../app/person.ts';
import { buttonLook } from '../../parts/button.tsx';
import { CopyId } from '../../parts/copy.tsx';
import { Link } from '../../parts/link.tsx';
import { OnePage } from '../../parts/loaded.tsx';
import { Failure, Notice } from '../../parts/notice.tsx';
import { Card, Facts, Page } from '../../parts/page.tsx';
import { Moment } from '../../parts/time.tsx';
import { Url } from '../../parts/url.tsx';
import { t } from '../../text/language.ts';
import { EndpointStatus, FailingNotice, FailuresInARow } from '../endpoint-name.tsx';
import { PauseButton } from '../endpoints/pause.tsx';
import { TestSending } from '../endpoints/test-sending.tsx';
import { useFailure } from '../recover/what-happened.tsx';
import { stateOf } from '../resend/jobs.ts';
import { JobProgress, JobSaid } from '../resend/progress.tsx';

export function ChannelPage({ id }: { id: string }) {
  const { environment } = useEnvironment();
  const query = useChannel(environment, id);
  return (
    <OnePage
      query={query}
      title={t.channels.title}
      gone={t.channels.gone}
      list={['/channels', t.channels.back]}
    >
      {(channel) => <Shown channel={channel} error={query.error} />}
    </OnePage>
  );
}

function Shown({ channel, error }: { channel: Channel; error: unknown }) {
  const isAdmin = useIsAdmin();
  const { environment } = useEnvironment();
  const pausing = usePause(environment, channel.id);
  const isSent = channel.kind === 'http';
  return (
    <Page
      title={channel.name}
      actions={
        isSent ? (
          <>
            <Link to={`/deliveries/${channel.id}`} className={buttonLook('ordinary')}>
              {t.endpoints.allDeliveries}
            </Link>
            {isAdmin ? (
              <PauseButton isActive={channel.status === 'active'} texts={t.channels} sent={pausing} />
            ) : null}
          </>
        ) : null
      }
    >
      <Failure title={t.failure.loading} error={error} />
      <Failure error={pausing.error} />
      <State channel={channel} />
      {isSent ? <Resending id={channel.id} isResumed={pausing.data?.redelivery != null} /> : null}
      <Card>
        <ChannelFacts channel={channel} />
      </Card>
      {isSent && channel.status === 'active' ? (
        <Card title={t.channels.test}>
          {isAdmin ? <TestSending webhookId={channel.id} /> : <p className="quiet">{t.admins}</p>}
        </Card>
      ) : null}
    </Page>
  );
}

/** Why messages are not sent, or may soon not be. */
function State({ channel }: { channel: Channel }) {
  const { lastError } = useFailure(channel);
  if (channel.status === 'paused')
    return (
      <Notice tone="idle" title={t.channels.paused}>
        <p>{t.channels.resumeAbout}</p>
      </Notice>
    );
  if (channel.status === 'auto_disabled')
    return (
      <Notice tone="bad" title={t.channels.disabled}>
        {lastError === undefined ? null : <p>{lastError}</p>}
        <p>{t.channels.disabledAbout}</p>
        <p>{t.channels.resumeAbout}</p>
      </Notice>
    );
  return <FailingNotice endpoint={channel} lastError={lastError} />;
}

/** The last job that resends what did not arrive. */
function Resending({ id, isResumed }: { id: string; isResumed: boolean }) {
  const { environment } = useEnvironment();
  const { data: jobs = [] } = useJobs(environment, id);
  const state = stateOf(jobs, 'failed');
  const job = state.running ?? (isResumed ? state.resent : undefined);
  if (job === undefined || job.dryRun) return null;
  return (
    <Card>
      {isResumed ? (
        <Notice tone="good" title={t.channels.resumed}>
          <p>{t.channels.resumedAbout}</p>
        </Notice>
      ) : null}
      <JobProgress job={job} />
      <JobSaid state={state} />
    </Card>
  );
}

function ChannelFacts({ channel }: { channel: Channel }) {
  const { kind, url, failing, pausedAt, disabledAt } = channel;
  return (
    <Facts
      facts={[
        [
          t.common.kind,
          <span key="kind">
            <code>{kind}</code> <span className="quiet">{t.channels.kinds[kind]}</span>
          </span>,
        ],
        url !== null && [t.endpoints.address, <Url key="url" url={url} />],
        [t.common.status, <EndpointStatus key="status" endpoint={channel} />],
        failing !== null && [t.endpoints.failuresInARow, <FailuresInARow key="row" endpoint={channel} />],
        pausedAt !== null && [t.endpoints.pausedAt, <Moment key="paused" at={pausedAt} />],
        disabledAt !== null && [t.status.auto_disabled, <Moment key="disabled" at={disabledAt} />],
        [t.common.created, <Moment key="created" at={channel.createdAt} />],
        [t.channels.id, <CopyId key="id" id={channel.id} what={t.channels.id} />],
      ]}
    />
  );
}
