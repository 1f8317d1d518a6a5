import { Button } from '../../parts/button.tsx';
import { t } from '../../text/language.ts';
import { csvOf } from './csv.ts';
import type { Month } from './months.tsx';

/** Gives the months as a file, which the page makes itself. */
export function Download({ months }: { months: readonly Month[] }) {
  const download = () => {
    const rows = months.map(({ month, conversations, messages }) => [month, conversations, messages]);
    const content = csvOf([['month', 'conversations', 'messages'], ...rows]);
    const address = URL.createObjectURL(new Blob([content], { type: 'text/csv' }));
    const link = document.createElement('a');
    link.href = address;
    link.download = `${t.usage.file}-${months[0]?.month ?? ''}.csv`;
    link.click();
    URL.revokeObjectURL(address);
  };
  return <Button onPress={download}>{t.usage.download}</Button>;
}
