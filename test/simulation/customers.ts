import { reminderOf } from '../../functions/domain/delivery.ts';
import type { Endpoint } from '../../functions/domain/endpoint.ts';
import type { EventType, SubscribableType } from '../../functions/domain/events.ts';
import type { EndpointId, OrgId } from '../../functions/domain/ids.ts';
import { redeliveryOf } from '../../functions/domain/redelivery.ts';
import { isOpen } from './moves.ts';
import type { World } from './world.ts';

const TYPES: readonly SubscribableType[] = ['conversation.created', 'message.received', 'ticket.created'];
/** What a run has of each at most. */
const MOST = { endpoints: 4, events: 8, redeliveries: 3 };

/** What customers do through the API, each in a transaction that has been committed. Each returns whether there was something to do. */
export class Customers {
  readonly #world: World;
  readonly #organizations: OrgId[];
  #endpoints = 0;
  #events = 0;
  #redeliveries = 0;

  constructor(world: World) {
    this.#world = world;
    const { random } = world;
    this.#organizations = Array.from({ length: random.between(1, 2) }, () =>
      world.newId('org', 'organization'),
    );
    for (let count = random.between(1, 3); count > 0; count -= 1) this.register();
    this.send();
  }

  get #registered(): Endpoint[] {
    return this.#world.history.ids.flatMap((id) =>
      this.#organizations.flatMap((orgId) => this.#world.endpoints.present(orgId, id) ?? []),
    );
  }

  #someTypes(): SubscribableType[] {
    const some = TYPES.filter(() => this.#world.random.chance(0.7));
    return some.length > 0 ? some : ['conversation.created'];
  }

  register(): boolean {
    if (this.#endpoints >= MOST.endpoints) return false;
    this.#endpoints += 1;
    const { random, endpoints, history, witness, clock } = this.#world;
    // Some are about to be disabled: ten deliveries that fail take more than a run has.
    const consecutiveFailures = random.pick([0, 0, 7, 8, 9]);
    const now = clock.now().toISOString();
    const endpoint: Endpoint = {
      id: this.#world.newId('whk', 'endpoint'),
      orgId: random.pick(this.#organizations),
      url: 'https://receiver.example.com/hook',
      events: this.#someTypes(),
      status: 'active',
      consecutiveFailures,
      keyVersion: '1',
      createdAt: now,
      ...(consecutiveFailures > 0 ? { failingSince: now } : {}),
    };
    endpoints.put(endpoint);
    history.note(endpoint.orgId, endpoint.id);
    witness.counts.registered(endpoint, clock.ms);
    return this.#tell(
      `registers ${endpoint.id} with ${consecutiveFailures} failures for ${endpoint.events.join(', ')}`,
    );
  }

  send(onlyTo?: { orgId: OrgId; id: EndpointId }): boolean {
    if (this.#events >= MOST.events) return false;
    this.#events += 1;
    const { random, clock } = this.#world;
    const type: EventType = onlyTo === undefined ? random.pick(TYPES) : 'webhook.test';
    const id = this.#world.newId('evt', 'event');
    const event = {
      id,
      orgId: onlyTo?.orgId ?? random.pick(this.#organizations),
      generation: 0,
      type,
      createdAt: clock.now().toISOString(),
      body: '{}',
      ...(onlyTo === undefined ? {} : { onlyTo: onlyTo.id }),
    };
    this.#world.commit({ kind: 'event', event });
    return this.#tell(`commits ${id}, ${type}`);
  }

  sendTest(): boolean {
    const endpoints = this.#registered;
    return endpoints.length > 0 && this.send(this.#world.random.pick(endpoints));
  }

  redeliver(): boolean {
    const { deliveries, random, endpoints, clock, events, witness } = this.#world;
    const over = deliveries.every.filter((delivery) => !isOpen(delivery) && events.has(delivery.eventId));
    if (this.#redeliveries >= MOST.redeliveries || over.length === 0) return false;
    const delivery = random.pick(over);
    const endpoint = endpoints.present(delivery.orgId, delivery.webhookId);
    const redelivery = endpoint && redeliveryOf(delivery, endpoint, clock.now());
    if (redelivery?.kind !== 'redeliver') return false;
    this.#redeliveries += 1;
    const again = { ...redelivery.delivery, id: this.#world.newId('dlv', 'redelivery') };
    witness.watching(again, () => void deliveries.add(again));
    this.#world.commit({ kind: 'redelivery', reminder: reminderOf(again) });
    return this.#tell(`sends ${delivery.id} again as ${again.id}`);
  }

  unregister(): boolean {
    const endpoints = this.#registered;
    if (endpoints.length === 0) return false;
    const { orgId, id } = this.#world.random.pick(endpoints);
    this.#world.endpoints.remove(orgId, id);
    this.#world.history.note(orgId, id);
    this.#world.witness.counts.deleted(id);
    return this.#tell(`deletes ${id}`);
  }

  subscribe(): boolean {
    const endpoints = this.#registered;
    if (endpoints.length === 0) return false;
    const endpoint = this.#world.random.pick(endpoints);
    const events = this.#someTypes();
    this.#world.endpoints.put({ ...endpoint, events });
    this.#world.history.note(endpoint.orgId, endpoint.id);
    return this.#tell(`subscribes ${endpoint.id} to ${events.join(', ')}`);
  }

  #tell(text: string): true {
    this.#world.trace?.(`a customer  ${text}`);
    return true;
  }
}
