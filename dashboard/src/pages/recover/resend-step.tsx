import { type Endpoint, useLastFailures } from '../../api/webhooks.ts';
import { useEnvironment } from '../../app/environment.ts';
import { useIsAdmin } from '../../app/person.ts';
import { Loading, Notice } from '../../parts/notice.tsx';
import { useTexts } from '../../text/language.ts';
import { FailuresInARow } from '../failures-in-a-row.tsx';
import type { JobState } from '../resend/jobs.ts';
import { JobProgress } from '../resend/progress.tsx';
import { Found, ResendForm } from '../resend/resend-form.tsx';
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
  const t = useTexts();
  if (!isDone) return <ResendNow chain={chain} state={state} />;
  return (
    <details>
      <summary>{t.resend.countAgain}</summary>
      <div className="stack">
        <ResendNow chain={chain} state={state} />
      </div>
    </details>
  );
}

function ResendNow({ chain, state }: { chain: Chain<Endpoint>; state: JobState }) {
  const t = useTexts();
  const isAdmin = useIsAdmin();
  const since = useStart(chain);
  const { current } = chain;
  return (
    <>
      <p>{t.recover.resend.about}</p>
      {current.failing === null ? null : (
        <Notice tone="warn" title={t.recover.failingTitle}>
          <p>
            <FailuresInARow endpoint={current} />
          </p>
        </Notice>
      )}
      {isAdmin ? (
        since === undefined ? (
          <Loading lines={2} />
        ) : (
          <ResendForm
            scope={{ webhookId: current.id, what: 'missing', since, sinceHint: t.recover.resend.sinceHint }}
          />
        )
      ) : (
        <OfMember state={state} />
      )}
    </>
  );
}

function OfMember({ state: { running, counted } }: { state: JobState }) {
  const t = useTexts();
  return (
    <>
      {running === undefined ? null : <JobProgress job={running} />}
      {running === undefined && counted !== undefined ? <Found count={counted} /> : null}
      <p className="quiet">{t.admins}</p>
    </>
  );
}

/**
 * Before the first failure of the outage, which the replaced endpoint's deliveries may show best, and not
 * before that endpoint was registered.
 */
function useStart({ current, replaced, failingSince }: Chain<Endpoint>): number | undefined {
  const { environment } = useEnvironment();
  const [first = current] = replaced;
  const { data, isPending } = useLastFailures(
    environment,
    { id: first.id, until: first.disabledAt, failures: first.consecutiveFailures },
    replaced.length > 0,
  );
  if (replaced.length > 0 && isPending) return undefined;
  const start = startOfOutage([failingSince, ...(data ?? []).map(({ createdAt }) => createdAt)]);
  const registeredAt = replaced.length > 0 ? Date.parse(first.createdAt) : 0;
  return start === undefined ? undefined : Math.max(start, registeredAt);
}
