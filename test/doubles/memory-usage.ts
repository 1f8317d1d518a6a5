import { requirePermit } from '../../functions/domain/gate.ts';
import type { OrgId } from '../../functions/domain/ids.ts';
import { addUsage, NO_USAGE, sumUsage, type UsageCounts } from '../../functions/domain/usage.ts';
import type { MeterUsagePorts } from '../../functions/engine/meter.ts';

/** Usage in memory. A batch is counted at once, or not at all. */
export class MemoryUsage {
  readonly #marks = new Set<string>();
  readonly #counts = new Map<OrgId, Map<string, UsageCounts>>();

  /** The organizations that have usage. */
  get organizations(): OrgId[] {
    return [...this.#counts.keys()];
  }

  readonly count: MeterUsagePorts['usage']['count'] = async (events, permit) => {
    requirePermit(permit);
    const { orgId } = permit;
    const counts = this.#counts.get(orgId) ?? new Map<string, UsageCounts>();
    this.#counts.set(orgId, counts);
    for (const event of events) {
      const mark = `${orgId}/${event.id}`;
      if (this.#marks.has(mark)) continue;
      this.#marks.add(mark);
      for (const [month, one] of sumUsage([event]))
        counts.set(month, addUsage(counts.get(month) ?? NO_USAGE, one));
    }
    return [];
  };

  async read(orgId: OrgId, { from, to }: { from: string; to: string }): Promise<Map<string, UsageCounts>> {
    const counts = [...(this.#counts.get(orgId) ?? [])];
    return new Map(counts.filter(([month]) => from <= month && month <= to));
  }
}
