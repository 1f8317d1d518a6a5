import { useState } from 'react';
import { pageOf, recoveryOf } from '../../api/receivers.ts';
import { useJobs } from '../../api/redeliveries.ts';
import type { Endpoint } from '../../api/webhooks.ts';
import { useEnvironment } from '../../app/environment.ts';
import { Button, buttonLook } from '../../parts/button.tsx';
import { Dialog, DialogActions } from '../../parts/dialog.tsx';
import { Link } from '../../parts/link.tsx';
import { Failure, Notice } from '../../parts/notice.tsx';
import { t } from '../../text/language.ts';
import { stateOf } from '../resend/jobs.ts';
import { JobProgress, JobSaid } from '../resend/progress.tsx';
import styles from '../resend/resend.module.css';
import { RESENT_STATUSES, ResendForm } from '../resend/resend-form.tsx';
import { type Filters, STATUS_CHOICES, TIME_CHOICES } from './filters.ts';

const DAY_MS = 24 * 3_600_000;
const FAILED = ['exhausted', 'skipped'] as const;

/**
 * Counts deliveries since a time, resends them and shows the progress. The job runs without the page.
 * @param filters of the list, which are what the form begins with
 * @param from milliseconds since the epoch, which the form begins with instead
 */
export function SendAgain({
  endpoint,
  filters,
  from,
  onClose,
}: {
  endpoint: Pick<Endpoint, 'id' | 'status'>;
  filters?: Filters;
  from?: number;
  onClose: () => void;
}) {
  const [since] = useState(() => from ?? Date.now() - (TIME_CHOICES[filters?.time ?? 'any'] ?? DAY_MS));
  const statuses = STATUS_CHOICES[filters?.status ?? 'any'];
  const preset = RESENT_STATUSES.filter((status) => statuses?.some((chosen) => chosen === status));
  return (
    <Dialog title={t.bulk.title} isOpen isWide onClose={onClose}>
      <p className="quiet">{t.bulk.about}</p>
      {(filters?.event ?? 'any') === 'any' ? null : <Notice tone="warn" title={t.resend.eventFilter} />}
      {endpoint.status === 'paused' ? (
        <Notice tone="warn" title={t.resend.paused}>
          <p>
            <Link to={pageOf(endpoint.id)}>{t.recover.back}</Link>
          </p>
        </Notice>
      ) : endpoint.status === 'auto_disabled' ? (
        <Notice tone="bad" title={t.resend.disabled}>
          <p>
            <Link to={recoveryOf(endpoint.id)} className={buttonLook('primary')}>
              {t.recover.action}
            </Link>
          </p>
        </Notice>
      ) : (
        <ResendForm
          scope={{
            webhookId: endpoint.id,
            what: 'failed',
            since,
            sinceHint: t.bulk.sinceHint,
            statuses: preset.length === 0 ? FAILED : preset,
            hasEnd: true,
          }}
        />
      )}
      <History webhookId={endpoint.id} />
      <DialogActions>
        <Button onPress={onClose}>{t.close}</Button>
      </DialogActions>
    </Dialog>
  );
}

/** Earlier jobs that resent something; the form shows the running one. */
function History({ webhookId }: { webhookId: string }) {
  const { environment } = useEnvironment();
  const { data = [], error } = useJobs(environment, webhookId);
  const ended = data.filter(({ dryRun, status }) => !dryRun && status !== 'running');
  return (
    <>
      <JobSaid state={stateOf(data, 'failed')} />
      <Failure title={t.failure.loading} error={error} />
      {ended.length === 0 ? null : (
        <ul className={styles.jobs} aria-label={t.bulk.list}>
          {ended.map((job) => (
            <li key={job.id} className={styles.job}>
              <JobProgress job={job} />
            </li>
          ))}
        </ul>
      )}
    </>
  );
}
