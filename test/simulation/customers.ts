import { toDeliveryMessage } from '../../functions/domain/delivery.ts';
import type { Endpoint } from '../../functions/domain/endpoint.ts';
import type { EventType, SubscribableType } from '../../functions/domain/events.ts';
import {
  deriveDeliveryId,
  type EndpointId,
  type EventId,
  type OrgId,
  type ReceiverId,
} from '../../functions/domain/ids.ts';
import { createRedelivery } from '../../functions/domain/redelivery.ts';
import { buildFirstRound, createJob, FailedStatus } from '../../functions/domain/redelivery-job.ts';
import type { Tenant } from '../../functions/domain/tenant.ts';
import { deliveryStore } from '../../functions/store/deliveries.ts';
import { type CountedAt, endpointStore } from '../../functions/store/endpoints.ts';
import { buildSandboxMark, keys } from '../../functions/store/keys.ts';
import { outboxStore } from '../../functions/store/outbox.ts';
import { redeliveryJobs } from '../../functions/store/redelivery-jobs.ts';
import { redeliveryMarks } from '../../functions/store/redelivery-records.ts';
import { buildAddition, type Change } from '../../functions/store/transaction.ts';
import { isOpen } from './moves.ts';
import { someProgram } from './programs.ts';
import { ATTEMPTS } from './promises.ts';
import type { World } from './world.ts';

const TYPES: readonly SubscribableType[] = ['conversation.created', 'message.received', 'ticket.created'];
const MS_PER_DAY = 86_400_000;
/** Limits of a run for each kind. */
const MOST = { endpoints: 4, events: 8, redeliveries: 3, jobs: 2 };
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
  #jobs = 0;

  constructor(world: World) {
    this.#world = world;
    const { random } = world;
    for (let count = random.between(1, 3); count > 0; count -= 1) this.register();
    this.send();
  }

  get #registered(): Endpoint[] {
    return [...this.#world.tables.endpoints.values()];
  }

  get #stores() {
    const { tables } = this.#world;
    const [service, outbox] = [tables.table('service'), tables.table('outbox')];
    return { service, endpoints: endpointStore(service), outbox: outboxStore(outbox) };
  }

  /** Commits changes at once, as a request does that nothing disturbs. */
  commit(changes: readonly Change[]): void {
    const { tables, witness } = this.#world;
    tables.commit(changes).then(
      (isCommitted) => {
        if (!isCommitted) witness.tell('no defect', 'a call of the API was refused');
      },
      (error: unknown) => witness.tell('no defect', `a call of the API failed: ${error}`),
    );
  }

  #someTypes(): SubscribableType[] {
    const some = TYPES.filter(() => this.#world.random.chance(0.7));
    return some.length > 0 ? some : ['conversation.created'];
  }

  register(): boolean {
    if (this.#endpoints >= MOST.endpoints) return false;
    this.#endpoints += 1;
    const { random, witness, clock, organizations, registrations } = this.#world;
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
    if (random.chance(0.3)) endpoint.maxPerSecond = random.pick([1, 1, 3, 50]);
    witness.limits.registered(id, endpoint.maxPerSecond);
    witness.counts.registered(endpoint, clock.ms);
    this.commit(this.#stores.endpoints.add(endpoint));
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
    const { random, clock, organizations, statistics } = this.#world;
    if (organizations.isOver(tenant)) statistics.count('events committed after their reset');
    const type: EventType = onlyTo === undefined ? random.pick(TYPES) : 'webhook.test';
    const id = this.#newEventId();
    const event = {
      id,
      ...tenant,
      type,
      createdAt: clock.now().toISOString(),
      body: '{}',
      ...(onlyTo === undefined ? {} : { onlyTo }),
    };
    // With the cause of the event and the record of the call, which no function reads here.
    const rows = organizations.isSandbox(tenant.orgId) ? ['cause', 'call'] : [];
    const { service, outbox } = this.#stores;
    this.commit([
      outbox.append(event),
      ...rows.map((sk) => buildAddition(service, { pk: id, sk, ...buildSandboxMark(tenant) })),
    ]);
    return this.#tell(`commits ${id}, ${type} of ${tenant.orgId}, generation ${tenant.generation}`);
  }

  /** In a crowded run, an identifier whose delivery to the first endpoint is in the first shard. */
  #newEventId(): EventId {
    const [first] = this.#registered;
    const isCrowding = (id: EventId) =>
      first === undefined || keys.dueOf('watched', deriveDeliveryId(id, first.id)) === keys.due('watched', 0);
    let id = this.#world.newId('evt', 'event');
    while (this.#world.terms.isCrowded && !isCrowding(id)) id = this.#world.newId('evt', 'event');
    return id;
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
    const { tables, random, clock, events } = this.#world;
    const over = [...tables.deliveries.values()].filter(
      (delivery) => !isOpen(delivery) && isOf(delivery) && events.has(delivery.eventId),
    );
    if (this.#redeliveries >= MOST.redeliveries || over.length === 0) return undefined;
    const delivery = random.pick(over);
    const endpoint = tables.endpoints.get(delivery.webhookId);
    const redelivery = endpoint && createRedelivery(delivery, endpoint, clock.now());
    if (redelivery?.kind !== 'redeliver') return undefined;
    this.#redeliveries += 1;
    const again = { ...redelivery.delivery, id: this.#world.newId('dlv', 'redelivery') };
    return () => {
      const { service, outbox } = this.#stores;
      this.commit([
        deliveryStore(tables.table('deliveries')).adding(again),
        outbox.appendRedelivery(toDeliveryMessage(again)),
        redeliveryMarks(service).replacing(again),
      ]);
      this.#tell(`sends ${delivery.id} again as ${again.id}`);
    };
  }

  /** Starts a redelivery job, of what failed or of what is missing; some only count. */
  startJob(): boolean {
    const { random, clock, organizations } = this.#world;
    const endpoints = this.#registered;
    if (endpoints.length === 0 || this.#jobs >= MOST.jobs) return false;
    const { id, orgId, status } = random.pick(endpoints);
    const tenant = organizations.tenantOf(orgId);
    const order = createJob(
      {
        from: new Date(clock.ms - 30 * MS_PER_DAY).toISOString(),
        statuses: FailedStatus.options,
        what: random.pick(['failed', 'missing']),
        dryRun: random.chance(0.2),
      },
      { id: id as EndpointId, status },
      { tenant, now: clock.now() },
    );
    if (order.kind === 'refused') return false;
    const { service, outbox } = this.#stores;
    const latest = this.#world.tables.memory.get('service', {
      ...keys.latestRedelivery(tenant, id as EndpointId),
    });
    if (latest?.running === true) return false;
    this.#jobs += 1;
    const job = { ...order.job, id: this.#world.newId('rdj', 'job') };
    this.#world.witness.jobs.started(job);
    this.commit([...redeliveryJobs(service).start(job), outbox.appendNotice(buildFirstRound(job))]);
    return this.#tell(
      `starts ${job.id} for what is ${job.what} at ${id}${job.dryRun ? ', to count it' : ''}`,
    );
  }

  unregister(): boolean {
    const endpoints = this.#registered;
    if (endpoints.length === 0) return false;
    const { orgId, id } = this.#world.random.pick(endpoints);
    this.commit(this.#stores.endpoints.removalOf(orgId, id, this.#countedAt(orgId, id)));
    this.#world.witness.counts.deleted(id);
    return this.#tell(`deletes ${id}`);
  }

  /** The host that an endpoint counts against, and how many it has. */
  #countedAt(orgId: OrgId, id: ReceiverId): CountedAt | 'none' {
    const { memory } = this.#world.tables;
    const { countedHost: host } = memory.get('service', { ...keys.endpoint(orgId, id) }) ?? {};
    if (typeof host !== 'string') return 'none';
    const row = memory.get('service', { ...keys.endpointHostCount(orgId, host) });
    return { host, endpoints: Number(row?.endpoints) };
  }

  subscribe(): boolean {
    const endpoints = this.#registered;
    if (endpoints.length === 0) return false;
    const { id, orgId } = this.#world.random.pick(endpoints);
    const events = this.#someTypes();
    const row = this.#world.tables.memory.get('service', { ...keys.endpoint(orgId, id) });
    if (row === undefined) return false;
    this.commit(this.#stores.endpoints.buildUpdate({ orgId, id, row, counted: 'none' }, { events }));
    return this.#tell(`subscribes ${id} to ${events.join(', ')}`);
  }

  #tell(text: string): true {
    this.#world.trace?.(`a customer  ${text}`);
    return true;
  }
}
