import type { Schema } from '../../api/client.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { masked } from '../../parts/masked.ts';
import { SecretOnce } from '../../parts/secret.tsx';
import { CodeTabs } from '../../parts/tabs.tsx';
import { t } from '../../text/language.ts';
import { TestSending } from './test-sending.tsx';
import { VERIFICATION } from './verification.ts';

/**
 * Shows the signing secret of a new endpoint, once, with the code that verifies with it.
 * @param isTested whether the service itself tests it
 */
export const Registered = ({
  endpoint,
  isTested = false,
  onClose,
}: {
  endpoint: Pick<Schema<'RegisteredWebhook'>, 'id' | 'url' | 'secret'>;
  isTested?: boolean;
  onClose: () => void;
}) => (
  <Dialog title={t.endpoints.registeredTitle} isOpen isWide>
    <p>
      <code>{masked(endpoint.url)}</code>
    </p>
    <h3>{t.endpoints.secretLabel}</h3>
    <p className="quiet">{t.endpoints.secretAbout}</p>
    <VerificationCode />
    <SecretOnce secret={endpoint.secret} what={t.endpoints.secretLabel} onClose={onClose}>
      {isTested ? null : <TestSending webhookId={endpoint.id} />}
    </SecretOnce>
  </Dialog>
);

/** The code by which a receiver verifies deliveries, in several languages, when it is wanted. */
export const VerificationCode = () => (
  <details>
    <summary>{t.endpoints.verify}</summary>
    <p className="quiet">{t.verification.about}</p>
    <CodeTabs label={t.settings.language} samples={VERIFICATION} />
  </details>
);
