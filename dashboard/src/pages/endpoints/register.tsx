import { useState } from 'react';
import { useLocation } from 'wouter';
import { type Endpoint, useRegister } from '../../api/webhooks.ts';
import { useEnvironment } from '../../app/environment.ts';
import { Button } from '../../parts/button.tsx';
import { Dialog, DialogActions } from '../../parts/dialog.tsx';
import { FaultForm } from '../../parts/fault-form.tsx';
import { t } from '../../text/language.ts';
import { DRAFT_FIELDS, draftOf, EMPTY_DRAFT, type EndpointDraft, registrationOf } from './draft.ts';
import { EndpointFields } from './endpoint-form.tsx';
import { Registered } from './registered.tsx';

/**
 * Registers an endpoint, and shows its signing secret, once.
 * @param replaced the endpoint whose settings it has at first
 */
export function Register({ replaced, onClose }: { replaced?: Endpoint; onClose: () => void }) {
  const { environment, to } = useEnvironment();
  const [, navigate] = useLocation();
  const [first] = useState<EndpointDraft>(() => (replaced === undefined ? EMPTY_DRAFT : draftOf(replaced)));
  const [draft, setDraft] = useState(first);
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
    // While it is being made there is no way out: its only secret comes with the answer.
    <Dialog
      title={replaced === undefined ? t.endpoints.add : t.replace.title}
      isOpen
      // What was filled in is not lost by a key.
      onClose={register.isPending || draft !== first ? undefined : onClose}
    >
      {replaced === undefined ? null : <p className="quiet">{t.replace.about}</p>}
      <FaultForm
        error={register.error}
        fields={DRAFT_FIELDS}
        onSubmit={() => register.mutate(registrationOf(draft))}
        actions={
          <DialogActions>
            <Button onPress={onClose} isDisabled={register.isPending}>
              {t.cancel}
            </Button>
            <Button type="submit" look="primary" isPending={register.isPending}>
              {replaced === undefined ? t.endpoints.register : t.replace.title}
            </Button>
          </DialogActions>
        }
      >
        <EndpointFields draft={draft} environment={environment} onChange={setDraft} />
      </FaultForm>
    </Dialog>
  );
}
