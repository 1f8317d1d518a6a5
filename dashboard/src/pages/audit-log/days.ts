/** Things of one day in the reader's time zone. */
export interface Day<Item> {
  /** Of the first of them, ISO 8601. */
  at: string;
  items: Item[];
}

/** Groups a list by days, keeping its order. */
export function daysOf<Item extends { createdAt: string }>(items: readonly Item[]): Day<Item>[] {
  const days = Map.groupBy(items, ({ createdAt }) => new Date(createdAt).toDateString());
  return [...days.values()].map((ofDay) => ({ at: ofDay[0]?.createdAt ?? '', items: ofDay }));
}

const DAY_MS = 86_400_000;

/** How many days before another a time was: 0 is the same day, 1 the day before. */
export function daysBefore(at: string, now: number): number {
  const [one, other] = [new Date(at), new Date(now)].map((time) =>
    Date.UTC(time.getFullYear(), time.getMonth(), time.getDate()),
  );
  return Math.round(((other ?? 0) - (one ?? 0)) / DAY_MS);
}
