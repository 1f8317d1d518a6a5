import type { Tenant } from '../../functions/domain/tenant.ts';
import type { CheckSourcePorts } from '../../functions/engine/check-source.ts';
import { buildTenantKey } from '../../functions/store/keys.ts';
import type { CheckSlot } from '../../functions/store/source-checks.ts';

type Slots = CheckSourcePorts<CheckSlot>['slots'];

/** Slots of checks in memory. */
export class MemoryCheckSlots implements Slots {
  readonly #held = new Map<string, { name: string; token: string; until: number }[]>();
  readonly #share: number;
  #tokens = 0;

  constructor(share: number) {
    this.#share = share;
  }

  async take(tenant: Tenant, { now, leaseSeconds }: Parameters<Slots['take']>[1]) {
    const held = (this.#held.get(buildTenantKey(tenant)) ?? []).filter(({ until }) => until > now.getTime());
    if (held.length >= this.#share) return undefined;
    this.#tokens += 1;
    const slot = { name: 'slot', token: String(this.#tokens) };
    this.#held.set(buildTenantKey(tenant), [
      ...held,
      { ...slot, until: now.getTime() + leaseSeconds * 1000 },
    ]);
    return { tenant, ...slot };
  }

  async release({ tenant, token }: CheckSlot): Promise<void> {
    const held = this.#held.get(buildTenantKey(tenant)) ?? [];
    this.#held.set(
      buildTenantKey(tenant),
      held.filter((slot) => slot.token !== token),
    );
  }
}
