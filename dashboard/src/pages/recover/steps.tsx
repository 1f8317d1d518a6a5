import { type ReactNode, type RefObject, useEffect, useRef, useState } from 'react';
import { useJobs } from '../../api/redeliveries.ts';
import { type Endpoint, useDelete, useRegister } from '../../api/webhooks.ts';
import { useEnvironment } from '../../app/environment.ts';
import { useIsAdmin } from '../../app/person.ts';
import { Button } from '../../parts/button.tsx';
import { Confirm } from '../../parts/confirm.tsx';
import { Link } from '../../parts/link.tsx';
import { Notice } from '../../parts/notice.tsx';
import { Status, type Tone } from '../../parts/status.tsx';
import { format, t } from '../../text/language.ts';
import { Registered } from '../endpoints/registered.tsx';
import { isComplete, recoveryStateOf } from '../resend/jobs.ts';
import { JobSaid } from '../resend/progress.tsx';
import type { Chain } from './chain.ts';
import styles from './recover.module.css';
import { RegisterStep } from './register-step.tsx';
import { ResendStep } from './resend-step.tsx';

const STEPS = ['register', 'resend', 'done'] as const;
type StepName = (typeof STEPS)[number];
type State = 'done' | 'current' | 'later';

/** The three steps; which one is next follows from the endpoints and the jobs of the new one. */
export function Steps({ chain }: { chain: Chain<Endpoint> }) {
  const { environment } = useEnvironment();
  const { current, replaced } = chain;
  const isDisabled = current.status === 'auto_disabled';
  const { data: jobs } = useJobs(environment, current.id);
  const state = recoveryStateOf(current, jobs ?? []);
  const now: StepName = isDisabled ? 'register' : isComplete(state) ? 'done' : 'resend';
  // Here, and not in the step: the dialog with the secret outlives it.
  const register = useRegister(environment);
  const heading = useFocusOnNext(
    `${now} ${replaced.length}`,
    isDisabled || jobs !== undefined,
    register.data !== undefined,
  );
  const headingOf = (name: StepName) => (name === now ? heading : undefined);
  const at = STEPS.indexOf(now);
  const isOver = now === 'done' && replaced.length === 0;
  const stateAt = (index: number): State =>
    index < at || isOver ? 'done' : index === at ? 'current' : 'later';
  return (
    <>
      <JobSaid state={state} />
      <ol className={styles.steps} aria-label={t.recover.steps}>
        <Step number={1} name="register" state={stateAt(0)} heading={headingOf('register')}>
          <RegisterStep chain={chain} register={register} />
        </Step>
        <Step number={2} name="resend" state={stateAt(1)} heading={headingOf('resend')}>
          {isDisabled ? null : <ResendStep chain={chain} state={state} isDone={now === 'done'} />}
        </Step>
        <Step number={3} name="done" state={stateAt(2)} heading={headingOf('done')}>
          {now === 'done' ? <DeleteStep chain={chain} /> : null}
        </Step>
      </ol>
      {register.data === undefined ? null : (
        <Registered
          endpoint={register.data}
          isTested={register.data.redelivery !== null}
          onClose={() => register.reset()}
        />
      )}
    </>
  );
}

const TONES: Record<State, Tone> = { done: 'good', current: 'busy', later: 'idle' };

const Step = ({
  number,
  name,
  state,
  heading,
  children,
}: {
  number: number;
  name: StepName;
  state: State;
  heading: RefObject<HTMLHeadingElement | null> | undefined;
  children: ReactNode;
}) => (
  <li className={styles.step} data-state={state} {...(state === 'current' ? { 'aria-current': 'step' } : {})}>
    <div className={styles.head}>
      <h2 tabIndex={-1} ref={heading}>
        {t.recover.step(number, t.recover[name].title)}
      </h2>
      <Status tone={TONES[state]}>{t.recover.states[state]}</Status>
    </div>
    {children}
  </li>
);

/**
 * Moves the focus to the next step when one is completed, or an old endpoint is deleted: the button that had
 * it is gone. Not while a dialog is open, which has it.
 * @returns for the heading of the current step
 */
function useFocusOnNext(now: string, isKnown: boolean, isCovered: boolean) {
  const heading = useRef<HTMLHeadingElement>(null);
  const last = useRef<string>(undefined);
  useEffect(() => {
    if (!isKnown || isCovered) return;
    last.current ??= now;
    if (last.current === now) return;
    // After the dialog has given the focus back. Until then another reading of the jobs begins anew.
    let frame = requestAnimationFrame(() => {
      frame = requestAnimationFrame(() => {
        last.current = now;
        heading.current?.focus();
      });
    });
    return () => cancelAnimationFrame(frame);
  }, [now, isKnown, isCovered]);
  return heading;
}

/** That all has arrived, with what was resent and where it is followed; nothing before that. */
export function RecoveryDone({ chain: { current } }: { chain: Chain<Endpoint> }) {
  const { environment } = useEnvironment();
  const { data: jobs } = useJobs(environment, current.id);
  const state = recoveryStateOf(current, jobs ?? []);
  if (jobs === undefined || !isComplete(state)) return null;
  const { resent } = state;
  return (
    <Notice tone="good" title={t.recover.complete}>
      <p>
        {resent?.status === 'done'
          ? `${t.recover.done.resent(resent.redelivered, format.number(resent.redelivered))} `
          : `${t.recover.resend.nothing} `}
        {t.recover.completeAbout}
      </p>
      <p>
        <Link to={`/deliveries/${current.id}`}>{t.recover.done.follow}</Link>
      </p>
    </Notice>
  );
}

function DeleteStep({ chain: { replaced } }: { chain: Chain<Endpoint> }) {
  const isAdmin = useIsAdmin();
  if (replaced.length === 0) return null;
  return (
    <>
      <p className="quiet">{t.recover.done.about}</p>
      {isAdmin ? (
        replaced.map((endpoint) => <OldEndpoint key={endpoint.id} endpoint={endpoint} />)
      ) : (
        <p className="quiet">{t.admins}</p>
      )}
    </>
  );
}

function OldEndpoint({ endpoint }: { endpoint: Endpoint }) {
  const { environment } = useEnvironment();
  const [isAsked, setAsked] = useState(false);
  const remove = useDelete(environment, endpoint.id);
  return (
    <div className="row">
      <Button onPress={() => setAsked(true)}>{t.recover.done.title}</Button>
      <code className="quiet">{endpoint.id}</code>
      {isAsked ? (
        <Confirm
          title={t.recover.done.deleteTitle}
          action={t.recover.done.title}
          sent={remove}
          onConfirm={() => remove.mutate(undefined, { onSuccess: () => setAsked(false) })}
          onClose={() => setAsked(false)}
        >
          <p>{t.recover.done.about}</p>
        </Confirm>
      ) : null}
    </div>
  );
}
