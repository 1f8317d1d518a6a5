import * as z from 'zod/mini';
import type { BusEvent } from './bus.ts';
import type { EventType } from './events.ts';

/** Billed counts of an organization. */
export const UsageCounts = z.object({ conversations: z.int(), messages: z.int() });
export type UsageCounts = z.infer<typeof UsageCounts>;

export const NO_USAGE: UsageCounts = { conversations: 0, messages: 0 };

/** Counted events. Messages of all roles count. */
const COUNTED_AS = {
  'conversation.created': 'conversations',
  'message.received': 'messages',
} as const satisfies { [T in EventType]?: keyof UsageCounts };
type MeteredType = keyof typeof COUNTED_AS;

export const METERED_TYPES = Object.keys(COUNTED_AS) as MeteredType[];

/** The counted fields of an event. Its organization is the permit's. */
export interface MeteredEvent extends Pick<BusEvent, 'id' | 'createdAt'> {
  type: MeteredType;
}

export const isMetered = <T extends Pick<BusEvent, 'type'>>(event: T): event is T & { type: MeteredType } =>
  METERED_TYPES.some((type) => type === event.type);

/** UTC month, as `2026-11`. */
export const toMonth = (time: Date): string => time.toISOString().slice(0, 7);

/** @returns the last `count` months, newest first, the current one included */
export const getLatestMonths = (now: Date, count: number): string[] =>
  Array.from({ length: count }, (_, back) =>
    toMonth(new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - back))),
  );

export const addUsage = (a: UsageCounts, b: UsageCounts): UsageCounts => ({
  conversations: a.conversations + b.conversations,
  messages: a.messages + b.messages,
});

/** Sums events by the month in which each happened, however late it is counted. */
export function sumUsage(events: readonly MeteredEvent[]): Map<string, UsageCounts> {
  const months = new Map<string, UsageCounts>();
  for (const { type, createdAt } of events) {
    const month = toMonth(new Date(createdAt));
    const one = { ...NO_USAGE, [COUNTED_AS[type]]: 1 };
    months.set(month, addUsage(months.get(month) ?? NO_USAGE, one));
  }
  return months;
}
