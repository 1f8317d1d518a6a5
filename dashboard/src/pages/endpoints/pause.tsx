import { useState } from 'react';
import { useJobs } from '../../api/redeliveries.ts';
import type { Endpoint, useUpdate } from '../../api/webhooks.ts';
import { useEnvironment } from '../../app/environment.ts';
import { Button } from '../../parts/button.tsx';
import { Confirm } from '../../parts/confirm.tsx';
import { Link } from '../../parts/link.tsx';
import { Failure, Notice } from '../../parts/notice.tsx';
import { Card } from '../../parts/page.tsx';
import { t } from '../../text/language.ts';
import { stateOf } from '../resend/jobs.ts';
import { JobProgress, JobSaid } from '../resend/progress.tsx';

type Update = ReturnType<typeof useUpdate>;

/**
 * Pauses an endpoint or a channel after a confirmation, or resumes it. One button, which keeps the focus.
 * @param texts what a pause means
 */
export function PauseButton({
  isActive,
  texts,
  sent,
}: {
  isActive: boolean;
  texts: { pauseTitle: string; pauseAbout: string };
  sent: {
    mutate(change: { paused: boolean }, options?: { onSuccess: () => void }): void;
    isPending: boolean;
    error: unknown;
  };
}) {
  const [isAsked, setAsked] = useState(false);
  return (
    <>
      <Button
        look={isActive ? 'ordinary' : 'primary'}
        isPending={!isAsked && sent.isPending}
        onPress={() => (isActive ? setAsked(true) : sent.mutate({ paused: false }))}
      >
        {isActive ? t.endpoints.pause : t.endpoints.resume}
      </Button>
      {isAsked ? (
        <Confirm
          title={texts.pauseTitle}
          action={t.endpoints.pause}
          look="primary"
          sent={sent}
          onConfirm={() => sent.mutate({ paused: true }, { onSuccess: () => setAsked(false) })}
          onClose={() => setAsked(false)}
        >
          <p>{texts.pauseAbout}</p>
        </Confirm>
      ) : null}
    </>
  );
}

/** What a pause means while it lasts, and the job that resends what was skipped afterwards. */
export function PauseState({ endpoint, update }: { endpoint: Endpoint; update: Update }) {
  const { environment } = useEnvironment();
  const { data: jobs = [] } = useJobs(environment, endpoint.id);
  const started = update.data?.redelivery ?? undefined;
  const job = jobs.find(({ id }) => id === started?.id) ?? started ?? stateOf(jobs, 'failed').running;
  if (endpoint.status === 'paused')
    return (
      <>
        <Failure error={update.error} />
        <Notice tone="idle" title={t.status.paused}>
          <p>{t.endpoints.pausedAbout}</p>
        </Notice>
      </>
    );
  if (job === undefined || job.dryRun) return null;
  return (
    <Card>
      {started === undefined ? null : (
        <Notice tone="good" title={t.endpoints.resumed}>
          <p>{t.endpoints.resumedAbout}</p>
        </Notice>
      )}
      <JobProgress job={job} />
      <JobSaid state={stateOf(jobs, 'failed')} />
      <Link to={`/deliveries/${endpoint.id}`}>{t.endpoints.allDeliveries}</Link>
    </Card>
  );
}
