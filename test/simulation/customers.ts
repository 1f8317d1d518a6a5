import type { ChannelId, EndpointId, OrgId, ReceiverId } from '../../functions/aws/ids.ts';
import { API_TIMEOUT_SECONDS } from '../../functions/aws/pages.ts';
import { buildAddition, type Change } from '../../functions/aws/transaction.ts';
import type { Message } from '../../functions/conversations/conversations.ts';
import { messageStore } from '../../functions/conversations/conversations.ts';
import { toDeliveryMessage } from '../../functions/delivery/delivery.ts';
import { outboxStore } from '../../functions/delivery/outbox.ts';
import { createRedelivery, recordRedelivery } from '../../functions/delivery/redelivery.ts';
import { deliveryStore } from '../../functions/delivery/rows.ts';
import type {
  EventFilter,
  EventType,
  FilterValues,
  OutboxEvent,
  SubscribableType,
} from '../../functions/events/events.ts';
import { channelStore } from '../../functions/receivers/channels.ts';
import { type Endpoint, type EndpointChange, pause, RESUMED } from '../../functions/receivers/endpoint.ts';
import { type CountedAt, endpointStore } from '../../functions/receivers/endpoints.ts';
import { NEW } from '../../functions/receivers/pace.ts';
import {
  buildRound,
  createCatchUpJob,
  createJob,
  FAILED_STATUSES,
  type RedeliveryJob,
  redeliveryJobs,
} from '../../functions/redelivery/jobs.ts';
import { buildSandboxMark, keys } from '../../functions/tenancy/keys.ts';
import type { Tenant } from '../../functions/tenancy/tenant.ts';
import { endpointState } from '../../lib/operate/endpoint-scan.ts';
import { isOpen } from './moves.ts';
import { someProgram } from './programs.ts';
import { ATTEMPTS } from './promises.ts';
import { conversationOf } from './readers.ts';
import type { World } from './world.ts';

const TYPES: readonly SubscribableType[] = ['conversation.created', 'message.received', 'ticket.created'];
/** Types whose events come from the dispatchers. */
const STATE_TYPES: readonly SubscribableType[] = ['webhook.failing', 'webhook.disabled', 'webhook.recovered'];
/** Values of events in turn, of which a filter lets one pass. */
const FILTER_VALUES: Partial<Record<EventType, readonly FilterValues[]>> = {
  'conversation.created': [{ channelId: 'web' }, { channelId: 'app' }],
  'message.received': [{ role: 'user' }, { role: 'agent' }],
};
const SOME_FILTER: EventFilter = { channelIds: ['web'], roles: ['agent', 'system'] };
const MS_PER_DAY = 86_400_000;
/** Limits of a run for each kind. */
const MOST = { endpoints: 4, events: 8, redeliveries: 3, jobs: 2, messages: 20 };
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
  #messages = 0;
  #interventions = 0;
  #changes = 0;

  constructor(world: World) {
    this.#world = world;
    const { random, faults, organizations } = world;
    if (faults.shortRuns) for (const orgId of organizations.ids) this.register(orgId);
    else for (let count = random.between(1, 3); count > 0; count -= 1) this.register();
    this.send();
    if (faults.shortRuns) this.#load();
  }

  /** One organization has much waiting when the dispatchers begin, and the others have little. */
  #load(): void {
    const { organizations } = this.#world;
    for (const orgId of organizations.ids) {
      const events = orgId === this.#busiest ? BURSTS.events - BURSTS.atOnce : 1;
      for (let left = events; left > 0; left -= 1) this.sendOf(organizations.tenantOf(orgId));
      this.#events += events;
    }
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
    const states = this.#world.random.chance(0.5) ? STATE_TYPES : [];
    return [...(some.length > 0 ? some : ['conversation.created' as const]), ...states];
  }

  register(orgId = this.#world.random.pick(this.#world.organizations.ids)): boolean {
    if (this.#endpoints >= MOST.endpoints) return false;
    this.#endpoints += 1;
    const { random, witness, clock, registrations } = this.#world;
    // Some endpoints start near the limit of failures, because ten failed deliveries take more than a run
    // has.
    const consecutiveFailures = random.pick([0, 0, 3, 4, 7, 8, 9]);
    const now = clock.now().toISOString();
    const isOfChannel = random.chance(0.15);
    const id = isOfChannel ? this.#world.newId('chn', 'channel') : this.#world.newId('whk', 'endpoint');
    // Live endpoints have programs too, which have no effect there.
    const program = someProgram(random);
    registrations.set(id, { orgId, program });
    const endpoint: Endpoint = {
      id,
      orgId,
      url: program.url,
      events: isOfChannel ? [] : this.#someTypes(),
      status: 'active',
      consecutiveFailures,
      ...(random.chance(0.5) ? { pace: NEW } : {}),
      keyVersion: '1',
      createdAt: now,
      ...(consecutiveFailures > 0 ? { failingSince: now } : {}),
      ...(random.chance(0.25) ? { pace: { is: 'slow', until: now } } : {}),
    };
    // Few enough attempts that bursts wait, also in the table.
    if (!isOfChannel && random.chance(0.3)) endpoint.maxPerSecond = random.pick([1, 1, 3, 50]);
    witness.limits.changed(id, endpoint.maxPerSecond);
    witness.counts.registered(endpoint, clock.ms);
    this.commit(
      isChannel(id)
        ? channelStore(this.#stores.service).add({ ...endpoint, id, kind: 'http', name: 'A channel' })
        : this.#stores.endpoints.add(endpoint),
    );
    return this.#tell(
      `registers ${id} of ${orgId} with ${consecutiveFailures} failures for ${endpoint.events.join(', ')} at ${program.url}`,
    );
  }

  send(onlyTo?: { orgId: OrgId; id: ReceiverId }, type?: EventType): boolean {
    const { attempts, isUnequal } = this.#world.terms;
    const orgId = onlyTo?.orgId ?? this.#sender();
    const bursts = attempts < ATTEMPTS || (isUnequal && orgId === this.#busiest);
    if (this.#events >= (bursts ? BURSTS : MOST).events) return false;
    for (let left = bursts ? BURSTS.atOnce : 1; left > 0; left -= 1) {
      this.#events += 1;
      this.sendOf(this.#world.organizations.tenantOf(orgId), onlyTo?.id, type);
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

  /** An event of each tenant, which the fan-out will abandon. */
  sendAbandoned(): void {
    const { organizations, events, abandoned } = this.#world;
    const before = new Set(events.keys());
    for (const orgId of organizations.ids) this.sendOf(organizations.tenantOf(orgId));
    for (const id of events.keys()) if (!before.has(id)) abandoned.add(id);
  }

  /**
   * Commits an event of a generation, which may be an earlier one: the API does not check this. Its
   * identifier has the time at which the request began.
   */
  sendOf(
    tenant: Tenant,
    onlyTo?: ReceiverId,
    type: EventType = onlyTo ? 'webhook.test' : this.#someType(),
  ): boolean {
    const { clock, organizations, statistics } = this.#world;
    const event: OutboxEvent = {
      id: this.#world.newId('evt', 'event'),
      ...tenant,
      type,
      createdAt: clock.now().toISOString(),
      body: '{}',
      ...(FILTER_VALUES[type] && { filterValues: FILTER_VALUES[type][this.#events % 2] ?? {} }),
      ...(onlyTo === undefined ? {} : { onlyTo }),
    };
    const commit = () => {
      if (organizations.isOver(tenant)) statistics.count('events committed after their reset');
      // With the cause of the event and the record of the call, which no function reads here.
      const rows = organizations.isSandbox(tenant.orgId) ? ['cause', 'call'] : [];
      const { service, outbox } = this.#stores;
      this.commit([
        outbox.append(event),
        ...rows.map((sk) => buildAddition(service, { pk: event.id, sk, ...buildSandboxMark(tenant) })),
      ]);
      this.#tell(`commits ${event.id}, ${type} of ${tenant.orgId}, generation ${tenant.generation}`);
    };
    this.#commitInTime(commit);
    return true;
  }

  /**
   * Ends a request that begins now, by a commit at once or up to its function's timeout later, while others
   * begin and end.
   */
  #commitInTime(commit: () => void): void {
    const { random, clock, processes, isUntroubled } = this.#world;
    const timeoutMs = clock.ms + API_TIMEOUT_SECONDS * 1000;
    if (isUntroubled || !random.chance(0.3)) commit();
    else
      void processes.later(random.next() * API_TIMEOUT_SECONDS, 'a request to commit', async () => {
        if (clock.ms <= timeoutMs) commit();
      });
  }

  /** Messages of a conversation, each by a request of its own, several at once. */
  post(): boolean {
    const { random, clock, organizations } = this.#world;
    if (this.#messages >= MOST.messages) return false;
    const tenant = organizations.tenantOf(random.pick(organizations.ids));
    for (let left = random.between(1, 4); left > 0; left -= 1) {
      this.#messages += 1;
      const id = this.#world.newId('msg', 'message');
      const message: Message = {
        id,
        conversationId: conversationOf(tenant),
        role: 'user',
        content: 'Hello',
        createdAt: clock.now().toISOString(),
      };
      this.#commitInTime(() => {
        this.commit([messageStore(this.#stores.service).add(tenant, message)]);
        this.#tell(`commits ${id} of ${tenant.orgId}, generation ${tenant.generation}`);
      });
    }
    return true;
  }

  #someType(): SubscribableType {
    return this.#world.random.pick(TYPES);
  }

  sendTest(): boolean {
    const endpoint = this.#some(this.#endpointsOnly);
    return endpoint !== undefined && this.send(endpoint);
  }

  /** An example of a type, for one endpoint, which may not subscribe to it any more. */
  sendExample(): boolean {
    const endpoint = this.#some(this.#endpointsOnly);
    return endpoint !== undefined && this.send(endpoint, this.#someType());
  }

  /** A message for a channel. */
  sendMessage(): boolean {
    const channel = this.#some(this.#registered.filter(({ id }) => isChannel(id)));
    return channel !== undefined && this.send(channel, 'channel.message');
  }

  get #endpointsOnly(): Endpoint[] {
    return this.#registered.filter(({ id }) => !isChannel(id));
  }

  #some<T>(items: readonly T[]): T | undefined {
    return items.length === 0 ? undefined : this.#world.random.pick(items);
  }

  /** Makes the next attempt of a delivery due. */
  attemptNow(): boolean {
    const { tables, clock, organizations, witness } = this.#world;
    const nowMs = clock.ms;
    const delivery = this.#some(
      [...tables.deliveries.values()].filter(
        ({ status, lease, attempts, id, ...tenant }) =>
          status === 'retrying' &&
          !organizations.isOver(tenant) &&
          (lease?.until ?? 0) <= nowMs &&
          !this.#world.entries.has(`${id}#retry#${attempts}`),
      ),
    );
    if (delivery === undefined) return false;
    this.commit([
      deliveryStore(tables.table('deliveries')).buildRetry(delivery, clock.now()),
      this.#stores.outbox.appendRedelivery(toDeliveryMessage(delivery), delivery.attempts),
    ]);
    witness.attempts.asked(delivery);
    return this.#tell(`attempts ${delivery.id} now`);
  }

  stopJob(): boolean {
    const { tables, clock, organizations } = this.#world;
    // A request knows only its own generation, and a purge deletes a job before the row of its run.
    const run = this.#some([...tables.runs.values()].filter((run) => !organizations.isOver(run)));
    if (run === undefined) return false;
    this.commit(redeliveryJobs(this.#stores.service).stop(run, clock.now()));
    return this.#tell(`stops ${run.id}`);
  }

  /** Only the path changes: a simulated receiver does what it did. */
  changeUrl(): boolean {
    const endpoint = this.#some(this.#endpointsOnly);
    if (endpoint === undefined) return false;
    return this.#change(endpoint, {
      url: endpoint.url.replace(/hook\w*/, `hook${this.#world.random.below(10)}`),
    });
  }

  /** Rather where deliveries wait for their times, which the change makes void. */
  changeLimit(): boolean {
    const { tables, clock } = this.#world;
    const waiting = new Set<ReceiverId>();
    for (const { webhookId, turn } of tables.deliveries.values())
      if (turn !== undefined && turn.at > clock.ms) waiting.add(webhookId);
    const some = this.#endpointsOnly.filter(({ id }) => waiting.has(id));
    const endpoint = this.#some(some.length > 0 ? some : this.#endpointsOnly);
    const maxPerSecond = this.#world.random.pick([null, 1, 3, 50]);
    if (endpoint === undefined || maxPerSecond === (endpoint.maxPerSecond ?? null)) return false;
    this.#world.witness.limits.changed(endpoint.id, maxPerSecond ?? undefined);
    return this.#change(endpoint, { maxPerSecond });
  }

  #change({ orgId, id }: Endpoint, change: EndpointChange, others: readonly Change[] = []): boolean {
    const row = this.#world.tables.memory.get('service', { ...keys.endpoint(orgId, id) });
    if (row === undefined) return false;
    const counted = this.#countedAt(orgId, id);
    this.commit([...this.#stores.endpoints.buildUpdate({ orgId, id, row, counted }, change), ...others]);
    return this.#tell(`changes ${id}: ${JSON.stringify(change)}`);
  }

  #pause(endpoint: Endpoint): boolean {
    const { clock, witness } = this.#world;
    witness.counts.paused(endpoint.id, true, clock.ms);
    return this.#change(endpoint, pause(clock.now()));
  }

  /** Ends a pause and starts the job for what was skipped; refused while another job of the endpoint runs. */
  #resume(endpoint: Endpoint): boolean {
    const { clock, witness, organizations } = this.#world;
    const { id, orgId, pausedAt = '' } = endpoint;
    const tenant = organizations.tenantOf(orgId);
    if (this.#hasJob(id as EndpointId, tenant)) return false;
    witness.counts.paused(id, false, clock.ms);
    const job = createCatchUpJob(id as EndpointId, pausedAt, { tenant, now: clock.now() });
    return this.#change(endpoint, RESUMED, this.#starting(job, Date.parse(pausedAt)));
  }

  /** An operator disables an endpoint, or enables a disabled one; or its owner pauses or resumes it. */
  disableOrEnable(): boolean {
    const { clock, witness } = this.#world;
    const endpoint = this.#some(this.#endpointsOnly);
    if (endpoint === undefined) return false;
    const { orgId, id, status } = endpoint;
    this.#interventions += 1;
    if (status === 'paused') return this.#resume(endpoint);
    if (status === 'active' && this.#interventions % 2 === 0) return this.#pause(endpoint);
    const operator = endpointState(this.#stores.service);
    const isActive = status === 'active';
    witness.counts.set(id, isActive ? 'disabled' : 'enabled', clock.ms);
    void (isActive ? operator.disable : operator.enable)(orgId, id, clock.now());
    return this.#tell(`as an operator ${isActive ? 'disables' : 'enables'} ${id}`);
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
        recordRedelivery(service, again),
      ]);
      this.#tell(`sends ${delivery.id} again as ${again.id}`);
    };
  }

  /** Starts a redelivery job, of what failed or of what is missing; some only count. */
  startJob(): boolean {
    const { random } = this.#world;
    const endpoint = this.#some(this.#endpointsOnly);
    if (endpoint === undefined || this.#jobs >= MOST.jobs) return false;
    return this.#startJobOf(endpoint, random.pick(['failed', 'missing']), random.chance(0.2));
  }

  /** Each endpoint gets what it lacks. */
  startAllJobs(): void {
    for (const endpoint of this.#endpointsOnly) this.#startJobOf(endpoint, 'missing', false);
  }

  #startJobOf({ id, orgId, status }: Endpoint, what: RedeliveryJob['what'], dryRun: boolean): boolean {
    const { random, clock, organizations } = this.#world;
    const tenant = organizations.tenantOf(orgId);
    const order = createJob(
      {
        from: new Date(clock.ms - 30 * MS_PER_DAY).toISOString(),
        statuses: FAILED_STATUSES,
        what,
        dryRun,
      },
      { id: id as EndpointId, status },
      { tenant, now: clock.now() },
    );
    if (order.kind === 'refused') return false;
    if (this.#hasJob(id as EndpointId, tenant)) return false;
    this.#jobs += 1;
    const { job } = order;
    this.commit(this.#starting(job));
    const { processes, isUntroubled } = this.#world;
    if (random.chance(0.5) && !isUntroubled)
      void processes.later(random.pick([0.3, 0.6, 1, 2]), 'a request to stop', async () => this.stopJob());
    return this.#tell(`starts a job for what is ${job.what} at ${id}${job.dryRun ? ', to count it' : ''}`);
  }

  #hasJob(webhookId: EndpointId, tenant: Tenant): boolean {
    const run = keys.redeliveryRun({ ...tenant, webhookId });
    return this.#world.tables.memory.get('service', { ...run }) !== undefined;
  }

  #starting(made: RedeliveryJob, pausedMs?: number): Change[] {
    const { witness, clock } = this.#world;
    const { service, outbox } = this.#stores;
    const job = { ...made, id: this.#world.newId('rdj', 'job') };
    witness.jobs.started(job, pausedMs);
    return [...redeliveryJobs(service).start(job), outbox.appendNotice(buildRound(job, 1, clock.now()))];
  }

  unregister(): boolean {
    const endpoint = this.#some(this.#registered);
    if (endpoint === undefined) return false;
    const { orgId, id } = endpoint;
    const { service, endpoints } = this.#stores;
    this.commit(
      isChannel(id)
        ? channelStore(service).remove(orgId, id)
        : endpoints.buildRowRemoval(orgId, id, this.#countedAt(orgId, id)),
    );
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

  /** Changes the types or the filter of an endpoint, pauses it, or ends its pause. */
  subscribe(): boolean {
    const endpoint = this.#some(this.#endpointsOnly);
    if (endpoint === undefined) return false;
    const { filter = null, events } = endpoint;
    this.#changes += 1;
    if (endpoint.status === 'paused') return this.#resume(endpoint);
    if (endpoint.status === 'active' && this.#changes % 2 === 0) return this.#pause(endpoint);
    return filter === null && events.length > 1
      ? this.#change(endpoint, { filter: SOME_FILTER, events })
      : this.#change(endpoint, { events: this.#someTypes(), filter: null });
  }

  #tell(text: string): true {
    this.#world.trace?.(`a customer  ${text}`);
    return true;
  }
}

const isChannel = (id: ReceiverId): id is ChannelId => id.startsWith('chn_');
