import { type RefObject, useEffect, useRef, useState } from 'react';
import { Form } from 'react-aria-components/Form';
import { type Job, type JobOrder, useJobs, useStartJob } from '../../api/redeliveries.ts';
import { useEnvironment } from '../../app/environment.ts';
import { Button } from '../../parts/button.tsx';
import { Confirm } from '../../parts/confirm.tsx';
import { Choices, TextField } from '../../parts/field.tsx';
import { Failure, Notice } from '../../parts/notice.tsx';
import { localTime } from '../../text/format.ts';
import { format, t } from '../../text/language.ts';
import { isCountOf, stateOf } from './jobs.ts';
import { JobProgress } from './progress.tsx';
import styles from './resend.module.css';

const HISTORY_MS = 30 * 24 * 3_600_000;

type ResentStatus = Job['statuses'][number];
export const RESENT_STATUSES: readonly ResentStatus[] = ['exhausted', 'skipped', 'succeeded'];

/** What is resent, and what the form begins with. */
export interface ResendScope {
  webhookId: string;
  what: Job['what'];
  /** Milliseconds since the epoch. */
  since: number;
  sinceHint: string;
  /** Absent where a job has no choice of them. */
  statuses?: readonly ResentStatus[] | undefined;
  /** Whether an end can be chosen. */
  hasEnd?: boolean;
  /** Whether the first count starts by itself. */
  countsAtOnce?: boolean;
}

/**
 * Resends in two steps: a count, then what was counted. The state is in the jobs of the endpoint, so the form
 * continues where it was after a reload.
 */
export function ResendForm({ scope }: { scope: ResendScope }) {
  const { environment } = useEnvironment();
  const { data, error } = useJobs(environment, scope.webhookId);
  const { running, counted, resent } = stateOf(data ?? [], scope.what);
  const order = useOrder(scope, counted);
  const start = useStartJob(environment, scope.webhookId);
  const count = counted !== undefined && isCountOf(counted, order.body) ? counted : undefined;
  const [isAsked, setAsked] = useState(false);
  const isOther = running !== undefined && running.what !== scope.what;
  const here = useFocusKept(running?.id);
  const isUncounted = data !== undefined && running === undefined && counted === undefined;
  const hasCounted = useRef(false);
  useEffect(() => {
    if (!scope.countsAtOnce || !isUncounted || hasCounted.current) return;
    hasCounted.current = true;
    // Another tab may have begun, which the jobs will say.
    start.mutate({ ...order.body, dryRun: true }, { onError: () => start.reset() });
  });
  return (
    <div className="stack" ref={here} tabIndex={-1}>
      <Failure title={t.failure.loading} error={error} />
      {running === undefined && resent?.status === 'stopped' ? <Stopped job={resent} /> : null}
      {running === undefined ? (
        <Form
          className="stack"
          onSubmit={(event) => {
            event.preventDefault();
            if (order.isValid) start.mutate({ ...order.body, dryRun: true });
          }}
        >
          <OrderFields scope={scope} order={order} />
          {count === undefined ? null : <Found count={count} />}
          <Failure error={start.error} />
          <div className="row">
            <CountButtons
              count={count}
              isPending={start.isPending}
              onStart={() =>
                order.statuses.includes('succeeded') ? setAsked(true) : start.mutate(order.body)
              }
            />
          </div>
        </Form>
      ) : (
        <>
          {isOther ? <Notice tone="warn" title={t.resend.other} /> : null}
          <JobProgress job={running} />
        </>
      )}
      {isAsked && count !== undefined ? (
        <Confirm
          title={t.resend.confirmTitle(count.redelivered, format.number(count.redelivered))}
          action={t.resend.start(count.redelivered, format.number(count.redelivered))}
          look="primary"
          sent={start}
          onConfirm={() => start.mutate(order.body, { onSuccess: () => setAsked(false) })}
          onClose={() => setAsked(false)}
        >
          <p>{t.resend.confirmSucceeded}</p>
        </Confirm>
      ) : null}
    </div>
  );
}

/** Keeps the focus here when the button that had it is gone, because a job has begun or ended. */
function useFocusKept(running: string | undefined): RefObject<HTMLDivElement | null> {
  const here = useRef<HTMLDivElement>(null);
  const last = useRef(running);
  useEffect(() => {
    const isChanged = last.current !== running;
    last.current = running;
    if (isChanged && document.activeElement === document.body) here.current?.focus({ preventScroll: true });
  }, [running]);
  return here;
}

function CountButtons({
  count,
  isPending,
  onStart,
}: {
  count: Job | undefined;
  isPending: boolean;
  onStart: () => void;
}) {
  const isFound = count !== undefined && count.redelivered > 0;
  return (
    <>
      <Button type="submit" look={isFound ? 'ordinary' : 'primary'} isPending={isPending}>
        {count === undefined ? t.resend.count : t.resend.countAgain}
      </Button>
      {isFound ? (
        <Button look="primary" isPending={isPending} onPress={onStart}>
          {t.resend.start(count.redelivered, format.number(count.redelivered))}
        </Button>
      ) : null}
    </>
  );
}

export const Stopped = ({ job: { reason } }: { job: Job }) => (
  <Notice
    tone={reason === 'endpoint_disabled' || reason === 'test_failed' ? 'bad' : 'warn'}
    title={t.resend.stopped[reason ?? 'cancelled']}
  />
);

export function Found({ count }: { count: Job }) {
  if (count.redelivered === 0) return <Notice tone="good" title={t.resend.none} />;
  return (
    <Notice tone="idle" title={t.resend.found(count.redelivered, format.number(count.redelivered))}>
      <ul className={styles.types} aria-label={t.resend.byType}>
        {count.eventTypes.map((each) => (
          <li key={each.type}>
            {format.number(each.count)} × <code>{each.type}</code>
          </li>
        ))}
      </ul>
    </Notice>
  );
}

type Order = ReturnType<typeof useOrder>;

/** What the fields of the form say. It begins with what was counted last. */
function useOrder(scope: ResendScope, counted: Job | undefined) {
  const [typed, setTyped] = useState<{
    since?: string;
    until?: string;
    statuses?: readonly ResentStatus[];
  }>({});
  const earliest = Date.now() - HISTORY_MS;
  const first = counted === undefined ? Math.max(scope.since, earliest) : Date.parse(counted.from);
  const since = typed.since ?? localTime(first);
  const until = typed.until ?? '';
  const statuses = typed.statuses ?? scope.statuses ?? [];
  const [from, to] = [new Date(since), until === '' ? undefined : new Date(until)];
  const isSinceValid = from.getTime() <= Date.now() && from.getTime() >= earliest - 60_000;
  const isUntilValid = to === undefined || to.getTime() > from.getTime();
  const isValid = isSinceValid && isUntilValid;
  const body: JobOrder = {
    what: scope.what,
    from: isSinceValid ? from.toISOString() : new Date(earliest).toISOString(),
    ...(to === undefined || !isUntilValid ? {} : { to: to.toISOString() }),
    ...(scope.what === 'failed' ? { statuses: [...statuses] } : {}),
  };
  return { since, until, statuses, isSinceValid, isUntilValid, isValid, body, setTyped };
}

function OrderFields({ scope, order }: { scope: ResendScope; order: Order }) {
  const { setTyped } = order;
  return (
    <>
      <div className={styles.times}>
        <TextField
          label={t.bulk.since}
          hint={scope.sinceHint}
          type="datetime-local"
          isRequired
          value={order.since}
          onChange={(since) => setTyped((typed) => ({ ...typed, since }))}
          validate={() => (order.isSinceValid ? null : t.bulk.sinceInvalid)}
        />
        {scope.hasEnd ? (
          <TextField
            label={t.resend.until}
            hint={t.resend.untilHint}
            type="datetime-local"
            value={order.until}
            onChange={(until) => setTyped((typed) => ({ ...typed, until }))}
            validate={() => (order.isUntilValid ? null : t.resend.untilInvalid)}
          />
        ) : null}
      </div>
      {scope.what === 'failed' ? (
        <Choices
          label={t.deliveries.title}
          isRequired
          choices={RESENT_STATUSES.map((status) => ({
            value: status,
            label: t.status[status],
            hint: t.bulk.statusHints[status],
          }))}
          value={order.statuses}
          onChange={(chosen) =>
            setTyped((typed) => ({
              ...typed,
              statuses: RESENT_STATUSES.filter((status) => chosen.includes(status)),
            }))
          }
        />
      ) : null}
    </>
  );
}
