import { ProgressBar } from 'react-aria-components/ProgressBar';
import { type Job, useStopJob } from '../../api/redeliveries.ts';
import { useEnvironment } from '../../app/environment.ts';
import { useIsAdmin } from '../../app/person.ts';
import { Button } from '../../parts/button.tsx';
import { Failure } from '../../parts/notice.tsx';
import { Status } from '../../parts/status.tsx';
import { Moment } from '../../parts/time.tsx';
import { format, t } from '../../text/language.ts';
import { type JobState, quarterOf } from './jobs.ts';
import styles from './resend.module.css';

/** One job: how far it is, and where it can be stopped. */
export function JobProgress({ job }: { job: Job }) {
  const isAdmin = useIsAdmin();
  const { environment } = useEnvironment();
  const stop = useStopJob(environment, job);
  const isRunning = job.status === 'running';
  // The job of a resumed endpoint begins at the end of its period.
  const isWaiting = isRunning && job.progress === 0 && job.to > job.createdAt;
  return (
    <div className={styles.job}>
      <div className={styles.head}>
        <Status tone={isRunning ? 'busy' : job.status === 'done' ? 'good' : 'idle'}>
          {isRunning && job.dryRun ? t.resend.counting : t.bulk[job.status]}
        </Status>
        <span>
          {isWaiting ? t.bulk.begins : t.bulk.since} <Moment at={isWaiting ? job.to : job.from} />
        </span>
        {isRunning && isAdmin ? (
          <Button look="plain" isPending={stop.isPending} onPress={() => stop.mutate()}>
            {stop.isSuccess ? t.bulk.stopping : t.bulk.stop}
          </Button>
        ) : null}
      </div>
      <Bar share={job.progress} label={t.bulk.progress} />
      <p className="quiet">
        {isRunning && job.progress === 0
          ? t.bulk.notBegun
          : job.dryRun
            ? (isRunning ? t.resend.foundSoFar : t.resend.found)(
                job.redelivered,
                format.number(job.redelivered),
              )
            : t.bulk.counts(format.number(job.redelivered), format.number(job.examined))}
        {job.reason === null ? '' : ` ${t.bulk.reasons[job.reason] ?? ''}`}
      </p>
      <Failure error={stop.error} />
    </div>
  );
}

/** @param share from 0 to 1 */
export const Bar = ({ share, label }: { share: number; label: string }) => (
  <ProgressBar value={share * 100} aria-label={label} className={styles.bar ?? ''}>
    <div className={styles.done} style={{ width: `${share * 100}%` }} />
  </ProgressBar>
);

/**
 * Says the progress of a job to those who hear the page: each quarter, and its end. It must not be in a part
 * of the page that can be closed.
 */
export function JobSaid({ state: { running, counted, resent } }: { state: JobState }) {
  const job = running ?? counted ?? resent;
  return (
    <p role="status" className="visually-hidden">
      {job === undefined ? '' : said(job)}
    </p>
  );

  function said({ status, dryRun, redelivered, progress }: Job): string {
    const count = format.number(redelivered);
    if (status === 'running')
      return dryRun ? t.resend.counting : t.resend.said(format.percent(quarterOf(progress)));
    return dryRun ? t.resend.found(redelivered, count) : t.resend.saidDone(redelivered, count);
  }
}
