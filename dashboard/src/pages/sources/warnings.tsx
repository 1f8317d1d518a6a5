import type { Source } from '../../api/sources.ts';
import { Notice } from '../../parts/notice.tsx';
import { t } from '../../text/language.ts';

/** What the imported text lacks; nothing where it has all. */
export const Warnings = ({ warnings }: Pick<Source, 'warnings'>) =>
  warnings.length === 0 ? null : (
    <Notice tone="warn" title={t.sources.warnings}>
      <ul>
        {warnings.map(({ code, count }) => (
          <li key={code}>{t.sources.warningTexts[code](count)}</li>
        ))}
      </ul>
    </Notice>
  );
