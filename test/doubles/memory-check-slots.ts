import type { Tenant } from '../../functions/domain/tenant.ts';
import type { CheckSourcePorts } from '../../functions/engine/check-source.ts';
import { buildTenantKey } from '../../functions/store/keys.ts';
import type { CheckSlot } from '../../functions/store/source-checks.ts';

type Slots = CheckSourcePorts<CheckSlot>['slots'];

/** Slots of checks in memory. */
export class MemoryCheckSlots implements Slots {
  readonly #held = new Map<string, CheckSlot['lease'][]>();
  readonly #share: number;
  #tokens = 0;

  constructor(share: number) {
    this.#share = share;
  }

  async take(tenant: Tenant, { now, leaseSeconds }: Parameters<Slots['take']>[1]) {
    const held = (this.#held.get(buildTenantKey(tenant)) ?? []).filter(({ until }) => until > now.getTime());
    if (held.length >= this.#share) return undefined;
    this.#tokens += 1;
    const lease = { token: String(this.#tokens), until: now.getTime() + leaseSeconds * 1000 };
    this.#held.set(buildTenantKey(tenant), [...held, lease]);
    return { tenant, name: 'slot', lease };
  }

  async release({ tenant, lease }: CheckSlot): Promise<void> {
    const held = this.#held.get(buildTenantKey(tenant)) ?? [];
    this.#held.set(
      buildTenantKey(tenant),
      held.filter((slot) => slot.token !== lease.token),
    );
  }
}
