import { CodeTabs } from '../../parts/code.tsx';
import { t } from '../../text/language.ts';
import { VERIFICATION } from './verification.ts';

/** The code by which a receiver verifies deliveries, in several languages, when it is wanted. */
export const VerificationCode = () => (
  <details>
    <summary>{t.endpoints.verify}</summary>
    <p className="quiet">{t.verification.about}</p>
    <CodeTabs label={t.settings.language} samples={VERIFICATION} />
  </details>
);
