import { useState } from 'react';
import { type SentType, useSendExample } from '../../api/examples.ts';
import { useEndpoints } from '../../api/webhooks.ts';
import { useEnvironment } from '../../app/environment.ts';
import { Button } from '../../parts/button.tsx';
import { Dialog, DialogActions } from '../../parts/dialog.tsx';
import { Choose } from '../../parts/field.tsx';
import { Link } from '../../parts/link.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { Failure } from '../../parts/notice.tsx';
import { t } from '../../text/language.ts';
import { endpointOptions } from '../endpoint-options.ts';
import { Watched } from '../endpoints/test-sending.tsx';
import { targetsOf } from './subscribers.ts';

/** Sends an example of a type to one endpoint, and watches it arrive. */
export function SendExample({ type, onClose }: { type: SentType; onClose: () => void }) {
  const { environment } = useEnvironment();
  const query = useEndpoints(environment);
  const targets = targetsOf(type, query.data ?? []);
  const [chosen, setChosen] = useState<string>();
  const { mutate, data, variables, error, isPending } = useSendExample(environment);
  const webhookId = chosen ?? targets[0]?.id;
  return (
    <Dialog title={t.eventTypes.sendTitle(type)} isOpen onClose={onClose}>
      <p className="quiet">{type === 'webhook.test' ? t.eventTypes.sendTestAbout : t.eventTypes.sendAbout}</p>
      <Loaded query={query} lines={2}>
        {() =>
          webhookId === undefined ? (
            <p>
              {t.eventTypes.noTargets} <Link to="/endpoints">{t.endpoints.title}</Link>
            </p>
          ) : (
            <Choose
              label={t.deliveries.endpoint}
              options={endpointOptions(targets, t.status)}
              value={webhookId}
              onChange={setChosen}
            />
          )
        }
      </Loaded>
      <Failure error={error} />
      {data === undefined || variables === undefined ? null : (
        <Watched
          key={data.deliveryId}
          webhookId={variables.webhookId}
          id={data.deliveryId}
          waiting={t.eventTypes.sending(type)}
        />
      )}
      <DialogActions>
        <Button onPress={onClose}>{t.close}</Button>
        {webhookId === undefined ? null : (
          <Button look="primary" isPending={isPending} onPress={() => mutate({ webhookId, type })}>
            {t.eventTypes.sendAction}
          </Button>
        )}
      </DialogActions>
    </Dialog>
  );
}
