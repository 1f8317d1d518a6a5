import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { Form } from 'react-aria-components/Form';
import { ProgressBar } from 'react-aria-components/ProgressBar';
import { answerTo, api, type Environment, type Schema } from '../../api/client.ts';
import { useIdempotencyKeys } from '../../api/idempotency.ts';
import { useEnvironment } from '../../app/environment.ts';
import { Button } from '../../parts/button.tsx';
import { Dialog, DialogActions } from '../../parts/dialog.tsx';
import { Check, TextField } from '../../parts/field.tsx';
import { Failure } from '../../parts/notice.tsx';
import { Status } from '../../parts/status.tsx';
import { Moment } from '../../parts/time.tsx';
import { useFormat } from '../../text/format.ts';
import { useTexts } from '../../text/language.ts';
import styles from './bulk.module.css';

type Job = Schema<'Redelivery'>;

const LOOK_MS = 2_000;
const IDLE_LOOK_MS = 10_000;
const HOUR_MS = 3_600_000;
const HISTORY_MS = 30 * 24 * HOUR_MS;
const SHOWN = 5;

const PATH = '/api/settings/webhooks/{id}/redeliveries';

const useJobs = (environment: Environment, id: string) =>
  useQuery({
    queryKey: [environment, 'redeliveries', id],
    queryFn: async () =>
      (await answerTo(api.GET(PATH, { params: { path: { id }, query: { environment, limit: SHOWN } } })))
        .data,
    refetchInterval: ({ state }) =>
      state.data?.some(({ status }) => status === 'running') ? LOOK_MS : IDLE_LOOK_MS,
  });

/** Resends failed deliveries since a time and shows the progress. The job runs without the page. */
export function SendAgain({ webhookId, onClose }: { webhookId: string; onClose: () => void }) {
  const t = useTexts();
  const { environment } = useEnvironment();
  const jobs = useJobs(environment, webhookId);
  return (
    <Dialog title={t.bulk.title} isOpen isWide onClose={onClose}>
      <p className="quiet">{t.bulk.about}</p>
      <Start webhookId={webhookId} onClose={onClose} />
      {jobs.error ? <Failure title={t.failure.loading} error={jobs.error} /> : null}
      {jobs.data === undefined || jobs.data.length === 0 ? null : (
        <ul className={styles.jobs} aria-label={t.bulk.list}>
          {jobs.data.map((job) => (
            <li key={job.id} className={styles.job}>
              <Progress job={job} />
            </li>
          ))}
        </ul>
      )}
    </Dialog>
  );
}

function Start({ webhookId, onClose }: { webhookId: string; onClose: () => void }) {
  const t = useTexts();
  const { environment } = useEnvironment();
  const queries = useQueryClient();
  const keys = useIdempotencyKeys();
  const [since, setSince] = useState(() => localTime(new Date(Date.now() - 24 * HOUR_MS)));
  const [withSkipped, setWithSkipped] = useState(true);
  const begin = new Date(since);
  const isValid = begin.getTime() <= Date.now() && begin.getTime() >= Date.now() - HISTORY_MS;
  const start = useMutation({
    mutationFn: async () => {
      const body = {
        from: begin.toISOString(),
        statuses: withSkipped ? (['exhausted', 'skipped'] as const) : (['exhausted'] as const),
      };
      return keys.once(body, (header) =>
        answerTo(
          api.POST(PATH, {
            params: { path: { id: webhookId }, query: { environment }, header },
            body: { ...body, statuses: [...body.statuses] },
          }),
        ),
      );
    },
    onSuccess: () => queries.invalidateQueries({ queryKey: [environment, 'redeliveries', webhookId] }),
  });
  return (
    <Form
      className="stack"
      onSubmit={(event) => {
        event.preventDefault();
        if (isValid) start.mutate();
      }}
    >
      <TextField
        label={t.bulk.since}
        hint={t.bulk.sinceHint}
        type="datetime-local"
        isRequired
        value={since}
        onChange={setSince}
        validate={() => (isValid ? null : t.bulk.sinceInvalid)}
      />
      <Check isSelected={withSkipped} onChange={setWithSkipped}>
        {t.bulk.skipped}
      </Check>
      {start.error ? <Failure error={start.error} /> : null}
      <DialogActions>
        <Button onPress={onClose}>{t.close}</Button>
        <Button type="submit" look="primary" isPending={start.isPending}>
          {t.bulk.start}
        </Button>
      </DialogActions>
    </Form>
  );
}

function Progress({ job }: { job: Job }) {
  const t = useTexts();
  const format = useFormat();
  const { environment } = useEnvironment();
  const queries = useQueryClient();
  const stop = useMutation({
    mutationFn: () =>
      answerTo(
        api.DELETE('/api/settings/webhooks/{id}/redeliveries/{redeliveryId}', {
          params: { path: { id: job.webhookId, redeliveryId: job.id }, query: { environment } },
        }),
      ),
    onSuccess: () => queries.invalidateQueries({ queryKey: [environment, 'redeliveries', job.webhookId] }),
  });
  const isRunning = job.status === 'running';
  return (
    <>
      <div className={styles.head}>
        <Status tone={isRunning ? 'busy' : job.status === 'done' ? 'good' : 'idle'}>
          {t.bulk[job.status]}
        </Status>
        <span>
          {t.bulk.since} <Moment at={job.from} />
        </span>
        {isRunning ? (
          <Button look="plain" isPending={stop.isPending} onPress={() => stop.mutate()}>
            {stop.isSuccess ? t.bulk.stopping : t.bulk.stop}
          </Button>
        ) : null}
      </div>
      <ProgressBar value={job.progress * 100} aria-label={t.bulk.progress} className={styles.bar ?? ''}>
        <div className={styles.done} style={{ width: `${job.progress * 100}%` }} />
      </ProgressBar>
      <p className="quiet">
        {t.bulk.counts(format.number(job.redelivered), format.number(job.examined))}
        {job.reason === null ? '' : ` ${t.bulk.reasons[job.reason] ?? ''}`}
      </p>
      {stop.error ? <Failure error={stop.error} /> : null}
    </>
  );
}

/** As a field for a local time has it: without a zone, to the minute. */
function localTime(date: Date): string {
  const local = new Date(date.getTime() - date.getTimezoneOffset() * 60_000);
  return local.toISOString().slice(0, 16);
}
