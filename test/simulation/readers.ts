import type { ConversationId } from '../../functions/aws/ids.ts';
import type { Page, PageRequest } from '../../functions/aws/pages.ts';
import { messageStore } from '../../functions/conversations/conversations.ts';
import { eventLog } from '../../functions/events/event-log.ts';
import { keys } from '../../functions/tenancy/keys.ts';
import type { Tenant } from '../../functions/tenancy/tenant.ts';
import type { World } from './world.ts';

/** A list that can be followed. */
interface List {
  name: string;
  read(page: PageRequest, now: Date): Promise<Page<{ id: string }>>;
  /** Ids of all items that are committed. */
  committed(): string[];
  /** Whether items come as soon as they are committed: one that was overtaken comes after later ones. */
  isPrompt: boolean;
}

/** A program that follows a list of a tenant. */
interface Follower {
  tenant: Tenant;
  list: List;
  after: string | undefined;
  seen: Set<string>;
  /** The latest id that was returned, and the ids that were committed then. */
  last: string;
  present: ReadonlySet<string>;
}

/** Longer than any request is in progress, in seconds. */
const SETTLED_SECONDS = 60;
/** Clocks of two functions of the API differ by less. */
const MOST_SKEW_MS = 2400;

/** The conversation of an organization that visitors follow. */
export const conversationOf = ({ orgId }: Pick<Tenant, 'orgId'>): ConversationId => `cnv_${orgId.slice(4)}`;

/** Followers of the event log, oldest first, and of the messages of a conversation. */
export class Readers {
  readonly #world: World;
  readonly #followers: Follower[] = [];

  constructor(world: World) {
    this.#world = world;
    for (const orgId of world.organizations.ids) {
      const tenant = world.organizations.tenantOf(orgId);
      for (const list of [this.#eventsOf(tenant), this.#messagesOf(tenant)])
        this.#followers.push({
          tenant,
          list,
          after: undefined,
          last: '',
          seen: new Set(),
          present: new Set(),
        });
    }
  }

  #eventsOf(tenant: Tenant): List {
    const { tables, events, lateEvents } = this.#world;
    return {
      name: 'events',
      read: (page, now) =>
        eventLog(tables.table('outbox'), tables.table('service')).listOldest(
          tenant,
          page,
          { types: undefined },
          now,
        ),
      committed: () =>
        [...events.values()].flatMap(({ id, orgId, generation }) =>
          orgId === tenant.orgId && generation === tenant.generation && !lateEvents.has(id) ? [id] : [],
        ),
      isPrompt: false,
    };
  }

  #messagesOf(tenant: Tenant): List {
    const { tables } = this.#world;
    const conversation = conversationOf(tenant);
    const partition = keys.messages(tenant, conversation);
    return {
      name: 'messages',
      read: (page, now) => messageStore(tables.table('service')).follow(tenant, conversation, page, now),
      committed: () =>
        tables.memory.all('service').flatMap(({ pk, id }) => (pk === partition ? [String(id)] : [])),
      isPrompt: true,
    };
  }

  /** One of them reads its next page. */
  read(): true {
    const { random } = this.#world;
    void this.#readPage(random.pick(this.#followers), random.pick([1, 3, 100]));
    return true;
  }

  /** All of them read what is left, some time after the last request. */
  async finish(): Promise<void> {
    const { clock, organizations } = this.#world;
    clock.elapse(SETTLED_SECONDS);
    for (const follower of this.#followers) {
      if (organizations.isOver(follower.tenant)) continue;
      while ((await this.#readPage(follower, 100)) > 0);
      this.#checkMissed(follower);
    }
  }

  async #readPage(follower: Follower, limit: number): Promise<number> {
    const { clock, random, faults, witness, statistics, organizations } = this.#world;
    // Beyond the margin, clocks differ by more than the lists allow for.
    const skewMs = faults.beyondMargin ? 0 : random.between(-MOST_SKEW_MS, MOST_SKEW_MS);
    const { list, after, seen, tenant } = follower;
    const present = new Set(list.committed());
    const page = await list.read({ limit, after }, new Date(clock.ms + skewMs));
    for (const { id } of page.items) {
      const isOvertaken = list.isPrompt && !follower.present.has(id);
      if (seen.has(id) || (id <= follower.last && !isOvertaken))
        witness.tell('followed once', `a follower of ${list.name} got ${id} late or again`);
      seen.add(id);
      if (id > follower.last) Object.assign(follower, { last: id, present });
    }
    statistics.count(`${list.name} followed`, page.items.length);
    follower.after = page.follow ?? page.next;
    if (list.isPrompt && page.next === undefined && !organizations.isOver(tenant))
      this.#checkMissed(follower);
    return page.items.length;
  }

  #checkMissed({ list, seen }: Follower): void {
    for (const id of list.committed())
      if (!seen.has(id))
        this.#world.witness.tell('followed once', `a follower of ${list.name} has missed ${id}`);
  }
}
