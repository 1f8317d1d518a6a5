import type { DeliveryStatus } from '../../api/webhooks.ts';
import type { Tone } from '../../parts/status.tsx';

/** What became of an event at a receiver. */
export type Outcome = 'failed' | 'open' | 'succeeded';

/** What each status of a delivery means to a reader. `showsWhy`: without a click. */
export const STATUSES: Readonly<Record<DeliveryStatus, { tone: Tone; outcome: Outcome; showsWhy: boolean }>> =
  {
    pending: { tone: 'busy', outcome: 'open', showsWhy: false },
    retrying: { tone: 'warn', outcome: 'open', showsWhy: true },
    succeeded: { tone: 'good', outcome: 'succeeded', showsWhy: false },
    exhausted: { tone: 'bad', outcome: 'failed', showsWhy: true },
    skipped: { tone: 'idle', outcome: 'failed', showsWhy: false },
  };
