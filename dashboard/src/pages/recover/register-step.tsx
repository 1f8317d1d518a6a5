import { useState } from 'react';
import { ApiFailure } from '../../api/failures.ts';
import { type Endpoint, useEndpoints, type useRegister } from '../../api/webhooks.ts';
import { useEnvironment } from '../../app/environment.ts';
import { useIsAdmin } from '../../app/person.ts';
import { Button } from '../../parts/button.tsx';
import { Link } from '../../parts/link.tsx';
import { Failure, Notice, Reason } from '../../parts/notice.tsx';
import { t } from '../../text/language.ts';
import { draftOf, type EndpointDraft, registrationOf } from '../endpoints/draft.ts';
import { EndpointDialog } from '../endpoints/endpoint-form.tsx';
import { type Chain, chainOf } from './chain.ts';

type Registration = ReturnType<typeof useRegister>;

/** Registers the URL again; afterwards says which endpoint is the new one. */
export function RegisterStep({ chain, register }: { chain: Chain<Endpoint>; register: Registration }) {
  const isAdmin = useIsAdmin();
  const { current, replaced } = chain;
  if (current.status !== 'auto_disabled') return <NewEndpoint endpoint={current} />;
  // The service recovers from the latest outage on; after several, the beginning is chosen here.
  const isFirst = replaced.length === 0;
  return (
    <>
      <p>{t.recover.register.about}</p>
      {isFirst ? <p>{t.recover.register.recovers}</p> : null}
      {isAdmin ? (
        <Start disabled={current} isFirst={isFirst} register={register} />
      ) : (
        <p className="quiet">{t.admins}</p>
      )}
    </>
  );
}

interface StartProps {
  disabled: Endpoint;
  isFirst: boolean;
  register: Registration;
}

function Start({ disabled, isFirst, register }: StartProps) {
  const [isChanging, setChanging] = useState(false);
  const submit = useSubmit({ disabled, isFirst, register });
  return (
    <>
      <div className="row">
        <Button
          look="primary"
          isPending={register.isPending}
          onPress={() => void submit.start(draftOf(disabled))}
        >
          {t.recover.register.action}
        </Button>
        <Button look="plain" isDisabled={register.isPending} onPress={() => setChanging(true)}>
          {t.recover.register.change}
        </Button>
      </div>
      {submit.hasOther ? <Notice tone="warn" title={t.recover.register.exists} /> : null}
      {isChanging ? null : <Refusal error={register.error} />}
      {isChanging ? (
        <EndpointDialog
          title={t.recover.register.title}
          action={t.recover.register.action}
          sent={register}
          first={draftOf(disabled)}
          isUrlFixed
          onSubmit={(draft) => void submit.start(draft)}
          onClose={() => setChanging(false)}
        />
      ) : null}
    </>
  );
}

/** Registers unless another tab has done it meanwhile. */
function useSubmit({ disabled, isFirst, register }: StartProps) {
  const { environment } = useEnvironment();
  const { refetch } = useEndpoints(environment);
  const [hasOther, setHasOther] = useState(false);
  return {
    hasOther,
    async start(draft: EndpointDraft) {
      const { data: endpoints = [] } = await refetch();
      const isReplaced = chainOf(disabled.id, endpoints)?.current.id !== disabled.id;
      setHasOther(isReplaced);
      if (isReplaced) return;
      register.mutate({ ...registrationOf(draft), ...(isFirst && { recover: 'predecessor' }) });
    },
  };
}

function Refusal({ error }: { error: unknown }) {
  if (!error) return null;
  if (!(error instanceof ApiFailure) || error.type !== 'LIMIT_EXCEEDED') return <Failure error={error} />;
  return (
    <Notice tone="bad" title={t.recover.register.limitTitle}>
      <Reason failure={error} />
      <p>{t.recover.register.limitAbout}</p>
      <p>
        <Link to="/endpoints">{t.recover.register.limitAction}</Link>
      </p>
    </Notice>
  );
}

const NewEndpoint = ({ endpoint }: { endpoint: Endpoint }) => (
  <>
    <p>
      {t.recover.register.done}:{' '}
      <Link to={`/endpoints/${endpoint.id}`}>
        <code>{endpoint.id}</code>
      </Link>
    </p>
    <p className="quiet">{t.recover.register.lostSecret}</p>
  </>
);
