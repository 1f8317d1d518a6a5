import { type Delivery, toDeliveryMessage } from '../../functions/domain/delivery.ts';
import type { Endpoint } from '../../functions/domain/endpoint.ts';
import type { EventType, SubscribableType } from '../../functions/domain/events.ts';
import type { EndpointId, OrgId, ReceiverId } from '../../functions/domain/ids.ts';
import { chooseFirstLane } from '../../functions/domain/lanes.ts';
import { createRedelivery } from '../../functions/domain/redelivery.ts';
import { createJob, createRedeliveries, FailedStatus } from '../../functions/domain/redelivery-job.ts';
import type { Tenant } from '../../functions/domain/tenant.ts';
import { isOpen } from './moves.ts';
import { someProgram } from './programs.ts';
import { ATTEMPTS } from './promises.ts';
import type { World } from './world.ts';

const TYPES: readonly SubscribableType[] = ['conversation.created', 'message.received', 'ticket.created'];
const MS_PER_DAY = 86_400_000;
/** Limits of a run for each kind. */
const MOST = { endpoints: 4, events: 8, redeliveries: 3, ofJobs: 6 };
/**
 * Events of a run whose deliveries have few attempts, or where one tenant has most events, and events of one
 * burst.
 */
const BURSTS = { events: 24, atOnce: 6 };

/**
 * Actions of customers through the API, each in a committed transaction. Each returns whether it did
 * something.
 */
export class Customers {
  readonly #world: World;
  #endpoints = 0;
  #events = 0;
  #redeliveries = 0;
  #ofJobs = 0;

  constructor(world: World) {
    this.#world = world;
    const { random } = world;
    for (let count = random.between(1, 3); count > 0; count -= 1) this.register();
    this.send();
  }

  get #registered(): Endpoint[] {
    const { history, organizations, endpoints } = this.#world;
    return history.ids.flatMap((id) =>
      organizations.ids.flatMap((orgId) => endpoints.present(orgId, id) ?? []),
    );
  }

  #someTypes(): SubscribableType[] {
    const some = TYPES.filter(() => this.#world.random.chance(0.7));
    return some.length > 0 ? some : ['conversation.created'];
  }

  register(): boolean {
    if (this.#endpoints >= MOST.endpoints) return false;
    this.#endpoints += 1;
    const { random, endpoints, history, witness, clock, organizations, registrations } = this.#world;
    // Some endpoints start near the limit of failures, because ten failed deliveries take more than a run
    // has.
    const consecutiveFailures = random.pick([0, 0, 3, 4, 7, 8, 9]);
    const now = clock.now().toISOString();
    const id = this.#world.newId('whk', 'endpoint');
    // Live endpoints have programs too, which have no effect there.
    const program = someProgram(random);
    const orgId = random.pick(organizations.ids);
    registrations.set(id, { orgId, program });
    const endpoint: Endpoint = {
      id,
      orgId,
      url: program.url,
      events: this.#someTypes(),
      status: 'active',
      consecutiveFailures,
      ...(random.chance(0.5) ? { unproven: true } : {}),
      keyVersion: '1',
      createdAt: now,
      ...(consecutiveFailures > 0 ? { failingSince: now } : {}),
      // An endpoint that has failed for long has its mark since then.
      ...(random.chance(0.5) ? { atRiskUntil: new Date(clock.ms + MS_PER_DAY / 2).toISOString() } : {}),
    };
    // Few enough attempts that bursts wait, also in the table.
    if (this.#world.stores.keepLimits && random.chance(0.3))
      endpoint.maxPerSecond = random.pick([1, 1, 3, 50]);
    witness.limits.registered(id, endpoint.maxPerSecond);
    endpoints.put(endpoint);
    history.note(endpoint.orgId, endpoint.id);
    witness.counts.registered(endpoint, clock.ms);
    return this.#tell(
      `registers ${id} of ${orgId} with ${consecutiveFailures} failures for ${endpoint.events.join(', ')} at ${program.url}`,
    );
  }

  send(onlyTo?: { orgId: OrgId; id: ReceiverId }): boolean {
    const { attempts, isUnequal } = this.#world.terms;
    const orgId = onlyTo?.orgId ?? this.#sender();
    const bursts = attempts < ATTEMPTS || (isUnequal && orgId === this.#busiest);
    if (this.#events >= (bursts ? BURSTS : MOST).events) return false;
    for (let left = bursts ? BURSTS.atOnce : 1; left > 0; left -= 1) {
      this.#events += 1;
      this.sendOf(this.#world.organizations.tenantOf(orgId), onlyTo?.id);
    }
    return true;
  }

  /** The tenant with most events where tenants are unequal. */
  get #busiest(): OrgId | undefined {
    return this.#registered[0]?.orgId;
  }

  /** Mostly a tenant with endpoints. */
  #sender(): OrgId {
    const { random, organizations, terms } = this.#world;
    const busiest = this.#busiest;
    if (terms.isUnequal && busiest !== undefined && random.chance(0.5)) return busiest;
    const endpoints = this.#registered;
    return endpoints.length > 0 && random.chance(0.8)
      ? random.pick(endpoints).orgId
      : random.pick(organizations.ids);
  }

  /** Commits an event of a generation, which may be an earlier one: the API does not check this. */
  sendOf(tenant: Tenant, onlyTo?: ReceiverId): boolean {
    const { random, clock, sandboxTables, organizations, statistics } = this.#world;
    if (organizations.isOver(tenant)) statistics.count('events committed after their reset');
    const type: EventType = onlyTo === undefined ? random.pick(TYPES) : 'webhook.test';
    const id = this.#world.newId('evt', 'event');
    const event = {
      id,
      ...tenant,
      type,
      createdAt: clock.now().toISOString(),
      body: '{}',
      ...(onlyTo === undefined ? {} : { onlyTo }),
    };
    this.#world.commit({ kind: 'event', event });
    // The cause of the event, and the record of the call.
    for (const row of ['cause', 'call']) sandboxTables.written('service', tenant, row, id);
    return this.#tell(`commits ${id}, ${type} of ${tenant.orgId}, generation ${tenant.generation}`);
  }

  sendTest(): boolean {
    const endpoints = this.#registered;
    return endpoints.length > 0 && this.send(this.#world.random.pick(endpoints));
  }

  redeliver(): boolean {
    const again = this.redelivery(({ orgId, generation }) => {
      const present = this.#world.organizations.tenantOf(orgId);
      return generation === present.generation;
    });
    again?.();
    return again !== undefined;
  }

  /**
   * Requests a redelivery.
   * @returns the function that commits it; undefined without a delivery that can be resent
   */
  redelivery(isOf: (tenant: Tenant) => boolean): (() => void) | undefined {
    const { deliveries, random, endpoints, clock, events, witness } = this.#world;
    const over = deliveries.every.filter(
      (delivery) => !isOpen(delivery) && isOf(delivery) && events.has(delivery.eventId),
    );
    if (this.#redeliveries >= MOST.redeliveries || over.length === 0) return undefined;
    const delivery = random.pick(over);
    const endpoint = endpoints.present(delivery.orgId, delivery.webhookId);
    const redelivery = endpoint && createRedelivery(delivery, endpoint, clock.now());
    if (redelivery?.kind !== 'redeliver') return undefined;
    this.#redeliveries += 1;
    const again = { ...redelivery.delivery, id: this.#world.newId('dlv', 'redelivery') };
    return () => {
      witness.watching(again, () => void deliveries.add(again));
      this.#world.commit({ kind: 'redelivery', reminder: toDeliveryMessage(again) });
      this.#tell(`sends ${delivery.id} again as ${again.id}`);
    };
  }

  /**
   * Starts a redelivery job: its worker adds deliveries of a page and sends their messages, which may be
   * lost.
   */
  redeliverAll(): boolean {
    const jobs = this.#registered
      .map((endpoint) => ({ endpoint, owed: this.#failedAt(endpoint).slice(0, MOST.ofJobs - this.#ofJobs) }))
      .filter(({ owed }) => owed.length > 0);
    if (jobs.length === 0) return false;
    const { endpoint, owed } = this.#world.random.pick(jobs);
    this.#ofJobs += owed.length;
    this.#add(owed, endpoint);
    return this.#tell(`has ${owed.length} deliveries to ${endpoint.id} sent again`);
  }

  /** The work item of a job for an endpoint. */
  #failedAt({ id, orgId, status }: Endpoint): Delivery[] {
    const { clock, organizations, deliveries, events } = this.#world;
    const tenant = organizations.tenantOf(orgId);
    const now = clock.now();
    const asked = {
      from: new Date(clock.ms - 30 * MS_PER_DAY).toISOString(),
      statuses: FailedStatus.options,
    };
    const order = createJob(asked, { id: id as EndpointId, status }, { tenant, now });
    if (order.kind === 'refused') return [];
    const of = deliveries.every.filter(
      ({ webhookId, generation, eventId }) =>
        webhookId === id && generation === tenant.generation && events.has(eventId),
    );
    return createRedeliveries(order.job, of, new Map(of.map((one) => [one.id, one.status])), now);
  }

  #add(owed: readonly Delivery[], endpoint: Endpoint): void {
    const { deliveries, witness, lanes, random, clock, isUntroubled } = this.#world;
    for (const delivery of owed) witness.watching(delivery, () => void deliveries.add(delivery));
    if (!isUntroubled && random.chance(0.3)) return;
    const reminders = owed.map(toDeliveryMessage);
    witness.sending(reminders, []);
    void lanes.send(
      chooseFirstLane(endpoint, clock.now(), false),
      reminders.map((reminder) => ({ message: reminder })),
    );
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
