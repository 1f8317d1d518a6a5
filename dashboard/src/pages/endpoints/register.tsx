import { useState } from 'react';
import { Form } from 'react-aria-components/Form';
import { useRegister } from '../../api/webhooks.ts';
import { useEnvironment } from '../../app/environment.ts';
import { Button } from '../../parts/button.tsx';
import { CodeTabs } from '../../parts/code.tsx';
import { Dialog, DialogActions } from '../../parts/dialog.tsx';
import { Failure } from '../../parts/notice.tsx';
import { SecretOnce } from '../../parts/secret.tsx';
import { useTexts } from '../../text/language.ts';
import { type EndpointDraft, EndpointFields } from './endpoint-form.tsx';
import { VERIFICATION } from './verification.ts';

/** Registers an endpoint, and shows its signing secret, once, with the code that verifies with it. */
export function Register({ onClose }: { onClose: () => void }) {
  const t = useTexts();
  const { environment } = useEnvironment();
  const [draft, setDraft] = useState<EndpointDraft>({ url: '', events: [] });
  const register = useRegister(environment);
  const registered = register.data;
  if (registered)
    return (
      <Dialog title={t.endpoints.registeredTitle} isOpen isWide>
        <p>
          <code>{registered.url}</code>
        </p>
        <h3>{t.endpoints.secretLabel}</h3>
        <p className="quiet">{t.endpoints.secretAbout}</p>
        <details>
          <summary>{t.endpoints.verify}</summary>
          <p className="quiet">{t.verification.about}</p>
          <CodeTabs label={t.verification.label} samples={VERIFICATION} />
        </details>
        <SecretOnce secret={registered.secret} what={t.endpoints.secretLabel} onClose={onClose} />
      </Dialog>
    );
  return (
    // While it is being made there is no way out: its only secret comes with the answer.
    <Dialog title={t.endpoints.add} isOpen onClose={register.isPending ? undefined : onClose}>
      <Form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault();
          register.mutate({ url: draft.url.trim(), events: [...draft.events] });
        }}
      >
        <EndpointFields draft={draft} environment={environment} onChange={setDraft} />
        {register.error ? <Failure error={register.error} /> : null}
        <DialogActions>
          <Button onPress={onClose} isDisabled={register.isPending}>
            {t.cancel}
          </Button>
          <Button type="submit" look="primary" isPending={register.isPending}>
            {t.endpoints.register}
          </Button>
        </DialogActions>
      </Form>
    </Dialog>
  );
}
