import { useState } from 'react';
import { Form } from 'react-aria-components/Form';
import { type Endpoint, useUpdate } from '../../api/webhooks.ts';
import { useEnvironment } from '../../app/environment.ts';
import { Button } from '../../parts/button.tsx';
import { Dialog, DialogActions } from '../../parts/dialog.tsx';
import { Failure } from '../../parts/notice.tsx';
import { useTexts } from '../../text/language.ts';
import { type EndpointDraft, EndpointFields } from './endpoint-form.tsx';

/** Changes the address and the events of an endpoint; its secret stays. */
export function Edit({ endpoint, onClose }: { endpoint: Endpoint; onClose: () => void }) {
  const t = useTexts();
  const { environment } = useEnvironment();
  const [draft, setDraft] = useState<EndpointDraft>(endpoint);
  const update = useUpdate(environment, endpoint.id);
  return (
    <Dialog title={t.endpoints.editTitle} isOpen onClose={onClose}>
      <Form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault();
          update.mutate({ url: draft.url.trim(), events: [...draft.events] }, { onSuccess: onClose });
        }}
      >
        <EndpointFields draft={draft} environment={environment} onChange={setDraft} />
        {update.error ? <Failure error={update.error} /> : null}
        <DialogActions>
          <Button onPress={onClose}>{t.cancel}</Button>
          <Button type="submit" look="primary" isPending={update.isPending}>
            {t.endpoints.save}
          </Button>
        </DialogActions>
      </Form>
    </Dialog>
  );
}
