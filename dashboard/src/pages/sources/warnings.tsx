import type { Source } from '../../api/sources.ts';
import { t } from '../../text/language.ts';

/** What the imported text lacks. */
export const Warnings = ({ warnings }: Pick<Source, 'warnings'>) => (
  <ul>
    {warnings.map(({ code, count }) => (
      <li key={code}>{t.sources.warningTexts[code](count)}</li>
    ))}
  </ul>
);
