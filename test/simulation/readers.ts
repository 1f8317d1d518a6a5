import type { EventId } from '../../functions/domain/ids.ts';
import type { Tenant } from '../../functions/domain/tenant.ts';
import { eventLog } from '../../functions/store/event-log.ts';
import type { World } from './world.ts';

/** A customer's program that follows the events of a tenant. */
interface Follower {
  tenant: Tenant;
  after: string | undefined;
  last: string;
  seen: Set<EventId>;
}

/** Longer than any request is in progress, in seconds. */
const SETTLED_SECONDS = 60;
/** Clocks of two functions of the API differ by less. */
const MOST_SKEW_MS = 2400;

/** Customers who follow the event log, oldest first: each event comes to them exactly once, in order. */
export class Readers {
  readonly #world: World;
  readonly #followers: Follower[] = [];

  constructor(world: World) {
    this.#world = world;
    const { organizations } = world;
    for (const orgId of organizations.ids)
      this.#followers.push({
        tenant: organizations.tenantOf(orgId),
        after: undefined,
        last: '',
        seen: new Set(),
      });
  }

  /** One of them reads its next page. */
  read(): true {
    const { random } = this.#world;
    void this.#readPage(random.pick(this.#followers), random.pick([1, 3, 100]));
    return true;
  }

  /** All of them read what is left, some time after the last request. */
  async finish(): Promise<void> {
    const { clock, organizations, events, witness } = this.#world;
    clock.elapse(SETTLED_SECONDS);
    for (const follower of this.#followers) {
      const { tenant, seen } = follower;
      if (organizations.isOver(tenant)) continue;
      while ((await this.#readPage(follower, 100)) > 0);
      for (const { id, orgId, generation } of events.values())
        if (orgId === tenant.orgId && generation === tenant.generation && !seen.has(id))
          witness.tell('followed once', `a follower has missed ${id}`);
    }
  }

  async #readPage(follower: Follower, limit: number): Promise<number> {
    const { tables, clock, random, faults, witness, statistics } = this.#world;
    // Beyond the margin, clocks differ by more than the log allows for.
    const skewMs = faults.beyondMargin ? 0 : random.between(-MOST_SKEW_MS, MOST_SKEW_MS);
    const { tenant, after, seen } = follower;
    const log = eventLog(tables.table('outbox'));
    const page = await log.listOldest(
      tenant,
      { limit, after },
      { types: undefined },
      new Date(clock.ms + skewMs),
    );
    for (const { id } of page.items) {
      if (seen.has(id) || id <= follower.last)
        witness.tell('followed once', `a follower got ${id} late or again`);
      seen.add(id);
      follower.last = id;
    }
    statistics.count('events followed', page.items.length);
    follower.after = 'follow' in page ? page.follow : page.next;
    return page.items.length;
  }
}
