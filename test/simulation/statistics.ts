/** How often each event happened, in one run or in many. */
export class Statistics {
  readonly counts = new Map<string, number>();

  count(name: string, times = 1): void {
    this.counts.set(name, (this.counts.get(name) ?? 0) + times);
  }

  of(name: string): number {
    return this.counts.get(name) ?? 0;
  }

  add(counts: Iterable<readonly [string, number]>): void {
    for (const [name, times] of counts) this.count(name, times);
  }
}
