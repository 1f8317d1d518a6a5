import { useState } from 'react';
import { Form } from 'react-aria-components/Form';
import { type SentType, useSendExample } from '../../api/examples.ts';
import { type Endpoint, useEndpoints } from '../../api/webhooks.ts';
import { useEnvironment } from '../../app/environment.ts';
import { Button } from '../../parts/button.tsx';
import { Dialog, DialogActions } from '../../parts/dialog.tsx';
import { Choose } from '../../parts/field.tsx';
import { Link } from '../../parts/link.tsx';
import { Failure, Loading } from '../../parts/notice.tsx';
import { t } from '../../text/language.ts';
import { Watched } from '../endpoints/test-sending.tsx';
import { targetsOf } from './subscribers.ts';

/** Sends an example of a type to one endpoint, and watches it arrive. */
export function SendExample({ type, onClose }: { type: SentType; onClose: () => void }) {
  const { environment } = useEnvironment();
  const { data: endpoints, error, refetch } = useEndpoints(environment);
  const targets = endpoints && targetsOf(type, endpoints);
  return (
    <Dialog title={t.eventTypes.sendTitle(type)} isOpen onClose={onClose}>
      <p className="quiet">{type === 'webhook.test' ? t.eventTypes.sendTestAbout : t.eventTypes.sendAbout}</p>
      {error ? <Failure title={t.failure.loading} error={error} onRetry={() => void refetch()} /> : null}
      {targets === undefined && !error ? <Loading lines={2} /> : null}
      {targets === undefined || targets.length > 0 ? null : (
        <p>
          {t.eventTypes.noTargets} <Link to="/endpoints">{t.endpoints.title}</Link>
        </p>
      )}
      {targets === undefined || targets.length === 0 ? (
        <DialogActions>
          <Button onPress={onClose}>{t.close}</Button>
        </DialogActions>
      ) : (
        <Send type={type} targets={targets} onClose={onClose} />
      )}
    </Dialog>
  );
}

function Send({
  type,
  targets,
  onClose,
}: {
  type: SentType;
  targets: readonly Endpoint[];
  onClose: () => void;
}) {
  const { environment } = useEnvironment();
  const [chosen, setChosen] = useState(targets[0]?.id ?? '');
  const { mutate, data, variables, error, isPending } = useSendExample(environment);
  return (
    <Form
      className="stack"
      onSubmit={(event) => {
        event.preventDefault();
        if (!isPending) mutate({ webhookId: chosen, type });
      }}
    >
      <Choose
        label={t.deliveries.endpoint}
        options={targets.map(({ id, url }) => ({ value: id, label: url }))}
        value={chosen}
        onChange={setChosen}
      />
      {error ? <Failure error={error} /> : null}
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
        <Button type="submit" look="primary" isPending={isPending}>
          {t.eventTypes.sendAction}
        </Button>
      </DialogActions>
    </Form>
  );
}
