import type { DeliveryStatus as Value } from '../../api/webhooks.ts';
import { Status, type Tone } from '../../parts/status.tsx';
import { useTexts } from '../../text/language.ts';

export const TONES: Record<Value, Tone> = {
  pending: 'busy',
  retrying: 'warn',
  succeeded: 'good',
  exhausted: 'bad',
  skipped: 'idle',
};

/** How a delivery stands. */
export function DeliveryStatus({ status }: { status: Value }) {
  const t = useTexts();
  return <Status tone={TONES[status]}>{t.status[status]}</Status>;
}
