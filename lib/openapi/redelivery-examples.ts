import { computeProgress } from '../../functions/redelivery/jobs.ts';
import * as examples from './example-values.ts';

const createdAt = '2026-11-21T14:05:07.412Z';
export const from = '2026-11-20T09:00:00.000Z';

/** Just ordered, of a day on which the receiver did not work. */
export const ordered = {
  id: examples.exampleId('rdj', createdAt),
  webhookId: examples.webhook.id,
  status: 'running',
  reason: null,
  from,
  to: createdAt,
  what: 'failed',
  dryRun: false,
  statuses: ['exhausted', 'skipped'],
  examined: 0,
  redelivered: 0,
  eventTypes: [],
  firstEventAt: null,
  progress: 0,
  createdAt,
  finishedAt: null,
} as const;

const reached = '2026-11-21T11:40:12.006Z';

/** The same some seconds later. */
export const underWay = {
  ...ordered,
  examined: 18_204,
  redelivered: 311,
  eventTypes: [
    { type: 'message.received', count: 280 },
    { type: 'conversation.created', count: 31 },
  ],
  firstEventAt: '2026-11-20T09:02:11.870Z',
  progress: computeProgress({ ...ordered, place: examples.exampleId('dlv', reached) }),
} as const;
