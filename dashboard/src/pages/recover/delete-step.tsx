import { useState } from 'react';
import type { Job } from '../../api/redeliveries.ts';
import { type Endpoint, useDelete } from '../../api/webhooks.ts';
import { useEnvironment } from '../../app/environment.ts';
import { useIsAdmin } from '../../app/person.ts';
import { Button } from '../../parts/button.tsx';
import { Confirm } from '../../parts/confirm.tsx';
import { Link } from '../../parts/link.tsx';
import { Notice } from '../../parts/notice.tsx';
import { useFormat } from '../../text/format.ts';
import { useTexts } from '../../text/language.ts';
import type { Chain } from './chain.ts';

/** What was resent, where it is followed, and the end of the old endpoint. */
export function DeleteStep({
  chain: { current, replaced },
  resent,
}: {
  chain: Chain<Endpoint>;
  resent: Job | undefined;
}) {
  const t = useTexts();
  const format = useFormat();
  const isAdmin = useIsAdmin();
  return (
    <>
      {replaced.length === 0 ? (
        <Notice tone="good" title={t.recover.done.complete}>
          <p>{t.recover.done.completeAbout}</p>
        </Notice>
      ) : null}
      <p>
        {resent?.status === 'done'
          ? `${t.recover.done.resent(resent.redelivered, format.number(resent.redelivered))} `
          : `${t.recover.resend.nothing} `}
        <Link to={`/deliveries/${current.id}`}>{t.recover.done.follow}</Link>
      </p>
      {replaced.length === 0 ? null : <p className="quiet">{t.recover.done.about}</p>}
      {replaced.map((endpoint) => (isAdmin ? <OldEndpoint key={endpoint.id} endpoint={endpoint} /> : null))}
      {replaced.length > 0 && !isAdmin ? <p className="quiet">{t.admins}</p> : null}
    </>
  );
}

function OldEndpoint({ endpoint }: { endpoint: Endpoint }) {
  const t = useTexts();
  const { environment } = useEnvironment();
  const [isAsked, setAsked] = useState(false);
  const remove = useDelete(environment, endpoint.id);
  return (
    <div className="row">
      <Button onPress={() => setAsked(true)}>{t.recover.done.delete}</Button>
      <code className="quiet">{endpoint.id}</code>
      {isAsked ? (
        <Confirm
          title={t.recover.done.deleteTitle}
          action={t.recover.done.delete}
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
