import { useLocation } from 'wouter';
import { type Endpoint, useRegister, useUpdate } from '../../api/webhooks.ts';
import { useEnvironment } from '../../app/environment.ts';
import { t } from '../../text/language.ts';
import { changeOf, draftOf, EMPTY_DRAFT, registrationOf } from './draft.ts';
import { EndpointDialog } from './endpoint-form.tsx';
import { Registered } from './registered.tsx';

/**
 * Registers an endpoint, and shows its signing secret, once.
 * @param replaced the endpoint whose settings it has at first
 */
export function Register({ replaced, onClose }: { replaced?: Endpoint; onClose: () => void }) {
  const { environment, to } = useEnvironment();
  const [, navigate] = useLocation();
  const register = useRegister(environment);
  const { data: made } = register;
  if (made)
    return (
      <Registered
        endpoint={made}
        onClose={() => {
          onClose();
          navigate(to(`/endpoints/${made.id}`));
        }}
      />
    );
  return (
    <EndpointDialog
      title={replaced === undefined ? t.endpoints.add : t.replace.title}
      about={replaced && t.replace.about}
      action={replaced === undefined ? t.endpoints.register : t.replace.title}
      sent={register}
      first={replaced === undefined ? EMPTY_DRAFT : draftOf(replaced)}
      onSubmit={(draft) => register.mutate(registrationOf(draft))}
      onClose={onClose}
    />
  );
}

/** Changes the settings of an endpoint; its secret stays. */
export function Edit({ endpoint, onClose }: { endpoint: Endpoint; onClose: () => void }) {
  const { environment } = useEnvironment();
  const update = useUpdate(environment, endpoint.id);
  return (
    <EndpointDialog
      title={t.endpoints.editTitle}
      action={t.common.save}
      sent={update}
      first={draftOf(endpoint)}
      saved={endpoint}
      onSubmit={(draft) => update.mutate(changeOf(draft), { onSuccess: onClose })}
      onClose={onClose}
    />
  );
}
