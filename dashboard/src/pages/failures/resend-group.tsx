import { useRef, useState } from 'react';
import { answerTo, api, type Environment } from '../../api/client.ts';
import { idempotencyKeys } from '../../api/idempotency.ts';
import { useEnvironment } from '../../app/environment.ts';
import { Button } from '../../parts/button.tsx';
import { Dialog, DialogActions } from '../../parts/dialog.tsx';
import { Link } from '../../parts/link.tsx';
import { Failure, Notice } from '../../parts/notice.tsx';
import { format, t } from '../../text/language.ts';
import { quarterOf } from '../resend/jobs.ts';
import { Bar } from '../resend/progress.tsx';
import { type FailureGroup, planResend, type Target } from './groups.ts';
import { type ResendPorts, resendTargets, type Tally } from './run.ts';

/**
 * Asks, then resends the events of a group one after another. The page does it, because the service's jobs
 * cannot select by cause; so it stops with the page.
 */
export function ResendGroup({
  group,
  isOpen,
  onClose,
}: {
  group: FailureGroup;
  isOpen: (webhookId: string) => boolean;
  onClose: (hasSent: boolean) => void;
}) {
  // The plan of the moment at which it was asked: a new reading must not change what was confirmed.
  const [{ targets, left }] = useState(() => planResend(group, isOpen));
  const run = useRun(targets);
  const isIdle = run.state === 'asked';
  const written = format.number(targets.length);
  return (
    <Dialog
      title={isIdle ? t.failures.confirmTitle : t.failures.progressTitle}
      isOpen
      onClose={run.state === 'running' ? undefined : () => onClose(run.tally.sent > 0)}
    >
      {isIdle ? (
        <>
          <p>{targets.length === 0 ? t.resend.none : t.failures.confirm(targets.length, written)}</p>
          {targets.length === 0 ? null : <WithoutPage group={group} />}
          {left === 0 ? null : <Notice tone="warn" title={t.failures.left(left, format.number(left))} />}
        </>
      ) : (
        <Running run={run} total={targets.length} />
      )}
      <DialogActions>
        {run.state === 'running' ? (
          <Button onPress={run.stop}>{t.bulk.stop}</Button>
        ) : (
          <Button onPress={() => onClose(run.tally.sent > 0)}>{isIdle ? t.cancel : t.close}</Button>
        )}
        {isIdle && targets.length > 0 ? (
          <Button look="primary" autoFocus onPress={() => void run.start()}>
            {t.failures.start(targets.length, written)}
          </Button>
        ) : null}
        {run.state === 'failed' || run.state === 'stopped' ? (
          <Button look="primary" onPress={() => void run.start()}>
            {t.failures.continue}
          </Button>
        ) : null}
      </DialogActions>
    </Dialog>
  );
}

/** Says that resending ends with the page, and what does not. */
function WithoutPage({ group: { endpoints } }: { group: FailureGroup }) {
  const [only, ...others] = endpoints;
  return (
    <>
      <p className="quiet">{t.failures.stay}</p>
      {only === undefined || others.length > 0 ? null : (
        <p>
          <Link to={`/deliveries/${only.id}?status=exhausted`}>{t.failures.job}</Link>
        </p>
      )}
    </>
  );
}

type Run = ReturnType<typeof useRun>;

function Running({ run: { state, tally, error }, total }: { run: Run; total: number }) {
  const done = processed(tally);
  const share = total === 0 ? 1 : done / total;
  const parts = [
    t.failures.sent(tally.sent, format.number(tally.sent)),
    ...(tally.arrived === 0 ? [] : [t.failures.arrived(tally.arrived, format.number(tally.arrived))]),
    ...(tally.refused === 0 ? [] : [t.failures.refused(tally.refused, format.number(tally.refused))]),
  ];
  const ends = { stopped: t.failures.stopped, done: t.failures.finished, failed: t.failures.stopped };
  const end = state === 'running' || state === 'asked' ? undefined : ends[state];
  return (
    <>
      {state === 'running' ? <p className="quiet">{t.failures.stay}</p> : null}
      <Bar share={share} label={t.bulk.progress} />
      <p>
        {end === undefined ? '' : `${end} `}
        {parts.join(' · ')}
      </p>
      <p role="status" className="visually-hidden">
        {end === undefined ? t.resend.said(format.percent(quarterOf(share))) : `${end} ${parts.join(', ')}`}
      </p>
      <Failure error={error} />
    </>
  );
}

const NOTHING: Tally = { sent: 0, arrived: 0, refused: 0 };
const processed = ({ sent, arrived, refused }: Tally): number => sent + arrived + refused;

/** Runs the resending, and continues it after a stop or a failure. */
function useRun(targets: readonly Target[]) {
  const { environment } = useEnvironment();
  const [state, setState] = useState<'asked' | 'running' | 'stopped' | 'failed' | 'done'>('asked');
  const [tally, setTally] = useState(NOTHING);
  const [error, setError] = useState<unknown>();
  const controller = useRef<AbortController>(undefined);
  const [ports] = useState(() => portsIn(environment));
  return {
    state,
    tally,
    error,
    stop: () => controller.current?.abort(),
    async start() {
      const before = tally;
      controller.current = new AbortController();
      const { signal } = controller.current;
      setError(undefined);
      setState('running');
      const onProgress = (now: Tally) => setTally(sum(before, now));
      try {
        await resendTargets(targets.slice(processed(before)), { ...ports, onProgress }, signal);
        setState(signal.aborted ? 'stopped' : 'done');
      } catch (failure) {
        setError(failure);
        setState('failed');
      }
    },
  };
}

const sum = (one: Tally, other: Tally): Tally => ({
  sent: one.sent + other.sent,
  arrived: one.arrived + other.arrived,
  refused: one.refused + other.refused,
});

/** The API. Each target has one idempotency key, so that a repetition resends nothing twice. */
function portsIn(environment: Environment): Omit<ResendPorts, 'onProgress'> {
  const keys = idempotencyKeys();
  return {
    async hasArrived({ id, eventId, webhookId, status }, signal) {
      const { data } = await answerTo(
        api.GET('/api/settings/events/{id}', {
          params: { path: { id: eventId }, query: { environment } },
          signal,
        }),
      );
      const others = data.deliveries.filter((delivery) => delivery.webhookId === webhookId);
      const isOwn = (delivery: { id: string }) => status === 'retrying' && delivery.id === id;
      return others.some(
        (delivery) => !isOwn(delivery) && ['succeeded', 'pending', 'retrying'].includes(delivery.status),
      );
    },
    send({ id, webhookId, status }, signal) {
      const params = {
        path: { id: webhookId, deliveryId: id },
        query: { environment },
        header: keys({ webhookId, id }),
      };
      return status === 'retrying'
        ? answerTo(api.POST('/api/settings/webhooks/{id}/deliveries/{deliveryId}/retry', { params, signal }))
        : answerTo(
            api.POST('/api/settings/webhooks/{id}/deliveries/{deliveryId}/redeliver', { params, signal }),
          );
    },
    wait: (ms, signal) =>
      new Promise((resolve) => {
        const timer = setTimeout(resolve, ms);
        signal.addEventListener('abort', () => {
          clearTimeout(timer);
          resolve();
        });
      }),
  };
}
