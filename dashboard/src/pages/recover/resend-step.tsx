import type { Job } from '../../api/redeliveries.ts';
import { type Endpoint, useFirstTest, useIsTested } from '../../api/webhooks.ts';
import { useEnvironment } from '../../app/environment.ts';
import { useIsAdmin } from '../../app/person.ts';
import { t } from '../../text/language.ts';
import { FailingNotice } from '../endpoint-name.tsx';
import { TestSending, Watched } from '../endpoints/test-sending.tsx';
import type { JobState } from '../resend/jobs.ts';
import { JobProgress } from '../resend/progress.tsx';
import { Found, ResendForm, Stopped } from '../resend/resend-form.tsx';
import { type Chain, startOfOutage } from './chain.ts';

/** Counts and resends what the new endpoint lacks. */
export function ResendStep({
  chain,
  state,
  isDone,
}: {
  chain: Chain<Endpoint>;
  state: JobState;
  isDone: boolean;
}) {
  if (!isDone) return <ResendNow chain={chain} state={state} countsAtOnce />;
  return (
    <details>
      <summary>{t.resend.countAgain}</summary>
      <div className="stack">
        <ResendNow chain={chain} state={state} countsAtOnce={false} />
      </div>
    </details>
  );
}

/** The test that the job of a registration waits for: it begins once the receiver has accepted it. */
function WaitingForTest({ endpoint }: { endpoint: Endpoint }) {
  const { environment } = useEnvironment();
  const { data: test } = useFirstTest(environment, endpoint);
  return (
    <>
      <p>{t.recover.resend.waits}</p>
      {test === undefined ? null : (
        <Watched webhookId={endpoint.id} id={test.id} waiting={t.endpoints.testWaiting} />
      )}
    </>
  );
}

const isWaiting = ({ dryRun, progress, redelivered }: Job): boolean =>
  !dryRun && progress === 0 && redelivered === 0;

function ResendNow({
  chain,
  state,
  countsAtOnce,
}: {
  chain: Chain<Endpoint>;
  state: JobState;
  countsAtOnce: boolean;
}) {
  const isAdmin = useIsAdmin();
  const { environment } = useEnvironment();
  const { running, resent } = state;
  const { current, failingSince = current.createdAt } = chain;
  const { data: isTested = false } = useIsTested(environment, current.id);
  const isGated = running === undefined && !isTested;
  return (
    <>
      <p>{t.recover.resend.about}</p>
      <FailingNotice endpoint={current} />
      {running !== undefined && isWaiting(running) ? <WaitingForTest endpoint={current} /> : null}
      {isAdmin ? null : <OfMember state={state} />}
      {isAdmin && isGated ? (
        <>
          {resent?.status === 'stopped' ? <Stopped job={resent} /> : null}
          <p>{t.recover.resend.testFirst}</p>
        </>
      ) : null}
      {isAdmin && running === undefined && resent?.status !== 'done' ? (
        <TestSending webhookId={current.id} />
      ) : null}
      {isAdmin && !isGated ? (
        <ResendForm
          scope={{
            webhookId: current.id,
            what: 'missing',
            since: startOfOutage(failingSince),
            sinceHint: t.recover.resend.sinceHint,
            countsAtOnce,
          }}
        />
      ) : null}
    </>
  );
}

const OfMember = ({ state: { running, counted } }: { state: JobState }) => (
  <>
    {running === undefined ? null : <JobProgress job={running} />}
    {running === undefined && counted !== undefined ? <Found count={counted} /> : null}
    <p className="quiet">{t.admins}</p>
  </>
);
