import type { Source } from '../../api/sources.ts';
import { t } from '../../text/language.ts';

/** What the imported text lacks. */
export function Warnings({ warnings }: Pick<Source, 'warnings'>) {
  return (
    <ul>
      {warnings.map(({ code, count }) => (
        <li key={code}>{t.sources.warningTexts[code](count)}</li>
      ))}
    </ul>
  );
}
