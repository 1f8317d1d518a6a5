import * as z from 'zod/mini';
import type { BusEvent } from './bus.ts';
import type { EventType } from './events.ts';

/** What an organization is billed for. */
export const UsageCounts = z.object({ conversations: z.int(), messages: z.int() });
export type UsageCounts = z.infer<typeof UsageCounts>;

export const NO_USAGE: UsageCounts = { conversations: 0, messages: 0 };

/** Which events count, and as what. Every message counts, whoever wrote it. */
const COUNTED_AS = {
  'conversation.created': 'conversations',
  'message.received': 'messages',
} as const satisfies { [T in EventType]?: keyof UsageCounts };
type MeteredType = keyof typeof COUNTED_AS;

export const METERED_TYPES = Object.keys(COUNTED_AS) as MeteredType[];

/** What is counted of an event. Its organization is the permit's. */
export interface MeteredEvent extends Pick<BusEvent, 'id' | 'createdAt'> {
  type: MeteredType;
}

export const isMetered = <T extends Pick<BusEvent, 'type'>>(event: T): event is T & { type: MeteredType } =>
  METERED_TYPES.some((type) => type === event.type);

/** The month of a time, UTC, as `2026-11`. */
export const toMonth = (time: Date): string => time.toISOString().slice(0, 7);

/** So many months, newest first. The one under way is among them. */
export const getLatestMonths = (now: Date, count: number): string[] =>
  Array.from({ length: count }, (_, back) =>
    toMonth(new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - back))),
  );

export const addUsage = (a: UsageCounts, b: UsageCounts): UsageCounts => ({
  conversations: a.conversations + b.conversations,
  messages: a.messages + b.messages,
});

/** What events count for, by the month in which each happened, however late it is counted. */
export function sumUsage(events: readonly MeteredEvent[]): Map<string, UsageCounts> {
  const months = new Map<string, UsageCounts>();
  for (const { type, createdAt } of events) {
    const month = toMonth(new Date(createdAt));
    const one = { ...NO_USAGE, [COUNTED_AS[type]]: 1 };
    months.set(month, addUsage(months.get(month) ?? NO_USAGE, one));
  }
  return months;
}
