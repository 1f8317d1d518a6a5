import { useState } from 'react';
import { useJobs } from '../../api/redeliveries.ts';
import { type Endpoint, useDelete } from '../../api/webhooks.ts';
import { useEnvironment } from '../../app/environment.ts';
import { useIsAdmin } from '../../app/person.ts';
import { Button } from '../../parts/button.tsx';
import { Confirm } from '../../parts/confirm.tsx';
import { Link } from '../../parts/link.tsx';
import { Notice } from '../../parts/notice.tsx';
import { format, t } from '../../text/language.ts';
import { isComplete, recoveryStateOf } from '../resend/jobs.ts';
import type { Chain } from './chain.ts';

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

/** The end of the old endpoints. */
export function DeleteStep({ chain: { replaced } }: { chain: Chain<Endpoint> }) {
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
          isPending={remove.isPending}
          error={remove.error}
          onConfirm={() => remove.mutate(undefined, { onSuccess: () => setAsked(false) })}
          onClose={() => setAsked(false)}
        >
          <p>{t.recover.done.about}</p>
        </Confirm>
      ) : null}
    </div>
  );
}
