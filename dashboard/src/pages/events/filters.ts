import type { ListedEvent } from '../../api/open-deliveries.ts';
import { isTimeChoice, TIME_CHOICES, type TimeChoice } from '../deliveries/filters.ts';
import { STATUSES } from '../deliveries/statuses.ts';
import { receiptsOf } from './outcomes.ts';

/** `none`: there is no delivery. */
export const OUTCOME_CHOICES = ['any', 'failed', 'skipped', 'open', 'succeeded', 'none'] as const;
type OutcomeChoice = (typeof OUTCOME_CHOICES)[number];

/**
 * What a list of events is narrowed to, as the page's address has it; all its parts have a value that changes
 * nothing, `any`.
 */
export interface Filters {
  /** An event type. */
  type: string;
  /** An endpoint's identifier. */
  endpoint: string;
  outcome: OutcomeChoice;
  time: TimeChoice;
  /** Instead of a choice of the time: from one time until another, ISO 8601. */
  from: string;
  to: string;
}

const ENDPOINT = /^whk_[0-9a-f]{32}$/;
const CONVERSATION = /^cnv_[0-9a-f]{32}$/;

const isOutcome = (name: string | null): name is OutcomeChoice =>
  OUTCOME_CHOICES.some((choice) => choice === name);

/** Reads an address, which may say anything: what is not understood narrows nothing. */
export function filtersIn(parameters: URLSearchParams, eventTypes: readonly string[]): Filters {
  const outcome = parameters.get('outcome');
  const time = parameters.get('time');
  const endpoint = parameters.get('endpoint') ?? '';
  return {
    type: eventTypes.find((type) => type === parameters.get('type')) ?? 'any',
    endpoint: ENDPOINT.test(endpoint) ? endpoint : 'any',
    outcome: isOutcome(outcome) ? outcome : 'any',
    time: isTimeChoice(time) ? time : 'any',
    from: timeIn(parameters.get('from')),
    to: timeIn(parameters.get('to')),
  };
}

const timeIn = (text: string | null): string => (text !== null && Date.parse(text) > 0 ? text : 'any');

export function conversationIn(parameters: URLSearchParams): string | undefined {
  const given = parameters.get('conversation') ?? '';
  return CONVERSATION.test(given) ? given : undefined;
}

/** What an address says of filters; nothing where they narrow nothing. */
export const parametersOf = (filters: Filters): Record<string, string> =>
  Object.fromEntries(Object.entries(filters).filter(([, value]) => value !== 'any'));

/** Whether the browser itself leaves out events that it was sent. */
export const isPicky = ({ endpoint, outcome }: Filters): boolean => endpoint !== 'any' || outcome !== 'any';

/** Whether an event is like what is looked for; at one endpoint, what became of it there decides. */
export function isLike(
  { type, endpoint, outcome }: Filters,
  event: Pick<ListedEvent, 'type' | 'deliveries'>,
): boolean {
  if (type !== 'any' && type !== event.type) return false;
  const receipts = receiptsOf(event).filter(
    ({ receiverId }) => endpoint === 'any' || receiverId === endpoint,
  );
  if (outcome === 'none') return receipts.length === 0;
  if (outcome === 'any') return endpoint === 'any' || receipts.length > 0;
  const statuses = receipts.map(({ delivery, recoveredBy }) => (recoveredBy ?? delivery).status);
  return statuses.some((status) => status === outcome || STATUSES[status].outcome === outcome);
}

/** What the API is asked for. @param now milliseconds since the epoch, the same for all pages of a list */
export function queryOf(
  { type, time, from, to }: Filters,
  now: number,
): { type?: string; from?: string; to?: string } {
  const ago = TIME_CHOICES[time];
  return {
    ...(type === 'any' ? {} : { type }),
    ...(ago === undefined ? {} : { from: new Date(now - ago).toISOString() }),
    ...(from === 'any' ? {} : { from: new Date(from).toISOString() }),
    ...(to === 'any' ? {} : { to: new Date(to).toISOString() }),
  };
}
