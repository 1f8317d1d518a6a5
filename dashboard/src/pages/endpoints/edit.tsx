import { useState } from 'react';
import { type Endpoint, useUpdate } from '../../api/webhooks.ts';
import { useEnvironment } from '../../app/environment.ts';
import { Button } from '../../parts/button.tsx';
import { Dialog, DialogActions } from '../../parts/dialog.tsx';
import { FaultForm } from '../../parts/fault-form.tsx';
import { t } from '../../text/language.ts';
import { changeOf, DRAFT_FIELDS, draftOf, type EndpointDraft } from './draft.ts';
import { EndpointFields } from './endpoint-form.tsx';

/** Changes the settings of an endpoint; its secret stays. */
export function Edit({ endpoint, onClose }: { endpoint: Endpoint; onClose: () => void }) {
  const { environment } = useEnvironment();
  const [draft, setDraft] = useState<EndpointDraft>(() => draftOf(endpoint));
  const update = useUpdate(environment, endpoint.id);
  return (
    <Dialog title={t.endpoints.editTitle} isOpen onClose={onClose}>
      <FaultForm
        error={update.error}
        fields={DRAFT_FIELDS}
        onSubmit={() => update.mutate(changeOf(draft), { onSuccess: onClose })}
        actions={
          <DialogActions>
            <Button onPress={onClose}>{t.cancel}</Button>
            <Button type="submit" look="primary" isPending={update.isPending}>
              {t.common.save}
            </Button>
          </DialogActions>
        }
      >
        <EndpointFields draft={draft} environment={environment} saved={endpoint} onChange={setDraft} />
      </FaultForm>
    </Dialog>
  );
}
