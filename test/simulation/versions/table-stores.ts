import { Notice } from '../../../functions/domain/bus.ts';
import type { DeliveryRef } from '../../../functions/domain/delivery.ts';
import type { DueState } from '../../../functions/domain/due.ts';
import { DisablingNotice, Endpoint } from '../../../functions/domain/endpoint.ts';
import type { EventId, OrgId, ReceiverId } from '../../../functions/domain/ids.ts';
import { LedgerEntry } from '../../../functions/domain/ledger.ts';
import { OF_SANDBOX_INDEX, Purge } from '../../../functions/domain/sandbox.ts';
import type { Tenant } from '../../../functions/domain/tenant.ts';
import type { CountedAt } from '../../../functions/store/endpoints.ts';
import { buildTenantKey, keys } from '../../../functions/store/keys.ts';
import { getWorkKey } from '../../../functions/store/outbox.ts';
import type { Change } from '../../../functions/store/transaction.ts';
import type { Code, Versions } from '../../compatibility/versions.ts';
import type { Due, RowChange } from '../../doubles/memory-deliveries.ts';
import type { Row } from '../../doubles/tables/expressions.ts';
import { MemoryTables, type Written } from '../../doubles/tables/memory-tables.ts';
import { TABLE_DEFINITIONS } from '../../table-definitions.ts';
import type { Entry } from '../entries.ts';
import type { Process } from '../processes.ts';
import type { OwnStores, Stores } from '../stores.ts';
import type { TableName } from '../table-names.ts';
import type { World } from '../world.ts';
import { ownTables } from './own-tables.ts';
import { imageOf, isImageOf, OF_A_LATER_VERSION, once } from './rows.ts';

const TRACE = '1-5759e988-bd862e3fe1be46a994272793';

/**
 * Changes that the filter of the deliveries' stream lets through besides additions (`lib/cloud/recovery.ts`).
 */
const ENDED = ['succeeded', 'exhausted', 'skipped'];

/**
 * The stack's tables in memory, with the stores of two versions of the code. Each process and each call of
 * the API uses those of one version; witnesses use the present ones.
 */
export class TableStores implements Stores {
  readonly #world: World;
  readonly #versions: Versions;
  readonly #tables: MemoryTables;
  readonly #own = new WeakMap<Process, OwnStores>();
  readonly #dues = new Map<string, Due>();
  readonly #stream: RowChange[] = [];
  readonly #notices: DisablingNotice[] = [];
  readonly #warnings: Notice[] = [];
  readonly mayMissWarnings: boolean;
  #isLosing = false;
  readonly #deliveryOf = once((row) => this.#seen((row) => this.#versions.present.parseDelivery(row), row));
  readonly #endpointOf = once((row) => this.#seen(Endpoint.parse, row));
  readonly #entryOf = once((row) => this.#seen(LedgerEntry.parse, row));
  readonly #purgeOf = once((row) => this.#seen(Purge.parse, row));

  constructor(world: World, versions: Versions) {
    this.#world = world;
    this.#versions = versions;
    this.mayMissWarnings = versions.present !== versions.previous;
    this.#tables = new MemoryTables(TABLE_DEFINITIONS, {
      nowMs: () => world.clock.ms,
      lagMs: (_, index) => (index === OF_SANDBOX_INDEX ? world.sandboxTables.lagMs : 0),
      asRead: (table, key, row) => this.#asRead(table, key, row),
      stored: (row, before) => (before === undefined ? { ...row, [OF_A_LATER_VERSION]: 'kept' } : row),
      written: (table, write) => this.#written(table, write),
    });
    for (const orgId of world.organizations.ids) this.#found(orgId);
  }

  of(process: Process): OwnStores {
    const known = this.#own.get(process);
    if (known !== undefined) return known;
    const version = this.#world.random.pick(['present', 'previous'] as const);
    this.#world.statistics.count(`processes of the ${version} version`);
    const own = ownTables(this.#world, this.#tables, this.#versions[version], process);
    this.#own.set(process, own);
    return own;
  }

  commit(entry: Entry): void {
    const { owed } = entry;
    const code = this.#api();
    const outbox = code.outboxStore(this.#tables.table('outbox'));
    // Unknown to the previous version.
    const trace = code === this.#versions.present ? { traceId: TRACE } : {};
    this.#commit(code, [
      owed.kind === 'event'
        ? outbox.append({ ...owed.event, ...trace })
        : outbox.appendRedelivery({ ...owed.reminder, ...trace }),
    ]);
    isImageOf(this.#row('outbox', { ...getWorkKey(owed) }), entry);
  }

  lose(event: EventId): void {
    const { events, sandboxTables } = this.#world;
    const lost = events.get(event);
    if (lost === undefined) throw new Error('an event was to be lost that does not exist');
    events.delete(event);
    this.#isLosing = true;
    this.#tables.delete('outbox', { ...keys.event(lost, event) });
    this.#isLosing = false;
    sandboxTables.all.outbox.drop(event);
  }

  readonly keepLimits = false;

  readonly endpoints = {
    present: (orgId: OrgId, id: ReceiverId): Endpoint | undefined => {
      const row = this.#tables.get('service', { ...keys.endpoint(orgId, id) });
      return row && this.#endpointOf(row);
    },
    put: (endpoint: Endpoint): void => {
      const code = this.#api();
      const store: AnyEndpointStore = code.endpointStore(this.#tables.table('service'));
      const { orgId, id, events } = endpoint;
      if (this.endpoints.present(orgId, id) === undefined) {
        this.#commit(code, store.add?.(endpoint) ?? []);
      } else if (store.buildUpdate !== undefined) {
        const row = this.#row('service', { ...keys.endpoint(orgId, id) });
        this.#commit(code, store.buildUpdate({ orgId, id, row, counted: 'none' }, { events }));
      } else void store.update?.(orgId, id, { events });
    },
    remove: (orgId: OrgId, id: ReceiverId): void => {
      const code = this.#api();
      const store: AnyEndpointStore = code.endpointStore(this.#tables.table('service'));
      // The previous version counts no hosts, and returns the changes themselves.
      const changes: unknown =
        store.removalOf?.(orgId, id, this.#countedAt(orgId, id)) ??
        store.remove?.(orgId, id, new Date(this.#world.clock.ms));
      this.#commit(code, changes as readonly Change[]);
    },
  };

  readonly deliveries = this.#deliveries();
  readonly ledger = this.#ledger();
  readonly purges = this.#purges();

  #deliveries(): Stores['deliveries'] {
    const at = ({ webhookId, generation, id }: DeliveryRef) =>
      this.#tables.get('deliveries', { ...keys.delivery(webhookId, generation, id) });
    const all = () => this.#tables.all('deliveries');
    const dueOf = (row: Row) => this.#dueOf(row);
    const deliveryOf = this.#deliveryOf;
    return {
      // In the order of their addition, like the doubles.
      get every() {
        return all().map(deliveryOf);
      },
      get due() {
        return all().flatMap((row) => {
          const due = dueOf(row);
          return due === undefined ? [] : [{ delivery: deliveryOf(row), due }];
        });
      },
      present: (ref) => {
        const row = at(ref);
        return row && deliveryOf(row);
      },
      dueOf: (ref) => {
        const row = at(ref);
        return row && dueOf(row);
      },
      add: (delivery) => this.#api().deliveryStore(this.#tables.table('deliveries')).add(delivery),
      // The purge has deleted the row itself.
      remove: () => undefined,
      stream: this.#stream,
      notices: this.#notices,
      warnings: this.#warnings,
    };
  }

  #ledger(): Stores['ledger'] {
    // The other rows say which endpoints have counts in a day.
    const all = () => this.#tables.all('ledger').filter(({ hour }) => hour !== undefined);
    const entryOf = this.#entryOf;
    return {
      get every() {
        return all().map(entryOf);
      },
      remove: () => undefined,
    };
  }

  #purges(): Stores['purges'] {
    const all = () => this.#tables.all('service').filter(({ pk }) => String(pk).startsWith('purges#'));
    const purgeOf = this.#purgeOf;
    return {
      get every() {
        return all().map((row) => ({
          purge: purgeOf(row),
          leasedUntil: row.leasedUntil === undefined ? undefined : String(row.leasedUntil),
        }));
      },
      order: (purge) => {
        const code = this.#api();
        const service = this.#tables.table('service');
        const { orgId, generation, requestedAt } = purge;
        this.#commit(code, [
          code.sandboxStore(service).nextGeneration({ orgId, generation }, new Date(requestedAt)),
          code.purgeStore(service).order(purge),
        ]);
      },
      has: (tenant) => this.#tables.get('service', { ...keys.purge(tenant) }) !== undefined,
    };
  }

  /** A row as witnesses see it. An unreadable one is kept as it is, and reported. */
  #seen<T>(parse: (row: unknown) => T, row: Row): T {
    try {
      return parse(row);
    } catch (error) {
      this.#world.witness.tell('each reads the other', `${JSON.stringify(row)}: ${error}`);
      return row as T;
    }
  }

  /** The same object while the content is the same. */
  #dueOf({ pk, sk, dueIn, dueAt }: Row): Due | undefined {
    if (dueIn === undefined) return undefined;
    const state = String(dueIn).split('#')[0] as DueState;
    const name = `${pk}/${sk}`;
    const known = this.#dues.get(name);
    if (known?.state === state && known.dueAt === dueAt) return known;
    const due = { state, dueAt: String(dueAt) };
    this.#dues.set(name, due);
    return due;
  }

  /** Endpoints are read with eventual consistency; missing ones are read again consistently. */
  #asRead(table: string, key: Row, row: Row | undefined): Row | undefined {
    const { history, random, staleReads, registrations } = this.#world;
    const id = String(key.sk) as ReceiverId;
    const orgId = registrations.get(id)?.orgId;
    if (table !== 'service' || orgId === undefined) return row;
    const endpoint = history.staleRead(orgId, id, random, staleReads);
    return endpoint && imageOf(endpoint);
  }

  #written(table: string, { before, after }: Written): void {
    if (before !== undefined && after !== undefined && after[OF_A_LATER_VERSION] === undefined)
      this.#world.witness.tell(
        'nothing unknown is dropped',
        `of a row of ${table}: ${JSON.stringify(after)}`,
      );
    if (table === 'deliveries' && after !== undefined) this.#tell(before, after);
    if (table === 'outbox' && before === undefined && after?.kind === 'endpoint-disabled')
      this.#notices.push(this.#seen(DisablingNotice.parse, after));
    if (table === 'outbox' && before === undefined && after?.kind === 'notice')
      this.#warnings.push(this.#seen(Notice.parse, after));
    if (before?.ofSandbox === undefined || after !== undefined || this.#isLosing) return;
    void this.#world.sandboxTables.all[table as TableName].remove([{ pk: nameOf(before) }]);
  }

  #tell(before: Row | undefined, after: Row): void {
    if (before !== undefined && !ENDED.includes(String(after.status))) return;
    const change: RowChange = {
      kind: before === undefined ? 'added' : 'ended',
      delivery: this.#deliveryOf(after),
    };
    isImageOf(after, change);
    this.#stream.push(change);
  }

  /** A row of a sandbox that only the API uses. */
  record(tenant: Tenant, ...name: readonly (string | number)[]): void {
    const pk = `${buildTenantKey(tenant)}#${name.join('/')}`;
    this.#tables.put('service', {
      pk,
      sk: 'record',
      name: name.join('/'),
      ofSandbox: buildTenantKey(tenant),
    });
  }

  #found(orgId: OrgId): void {
    const { organizations, clock } = this.#world;
    const code = this.#api();
    const service = this.#tables.table('service');
    const createdAt = clock.now().toISOString();
    if (!organizations.isSandbox(orgId)) {
      const live = { id: orgId, name: 'Live', environment: 'live', tier: 'standard', createdAt } as const;
      this.#commit(code, [code.organizationStore(service).add(live)]);
      return;
    }
    const liveOrganizationId = this.#world.newId('org', 'organization of a sandbox');
    const { generation } = organizations.tenantOf(orgId);
    this.#commit(
      code,
      code
        .sandboxStore(service)
        .create(
          { liveOrganizationId, sandboxOrganizationId: orgId, createdAt },
          { id: orgId, environment: 'sandbox', liveOrganizationId, generation },
          { name: 'Sandbox', environment: 'sandbox', tier: 'sandbox', createdAt },
        ),
    );
  }

  /** The code of the instance that processes a request. */
  #api(): Code {
    return this.#versions[this.#world.random.pick(['present', 'previous'] as const)];
  }

  /** Takes effect at once. */
  #commit(code: Code, changes: readonly Change[]): void {
    code
      .committer(this.#tables.client)(changes)
      .then(
        ({ kind }) => {
          if (kind === 'refused') this.#world.witness.tell('no defect', 'a call of the API was refused');
        },
        (error: unknown) => this.#world.witness.tell('no defect', `a call of the API failed: ${error}`),
      );
  }

  #countedAt(orgId: OrgId, id: ReceiverId): CountedAt | 'none' {
    const { countedHost: host } = this.#row('service', { ...keys.endpoint(orgId, id) });
    if (typeof host !== 'string') return 'none';
    const { endpoints } = this.#row('service', { ...keys.endpointHostCount(orgId, host) });
    return { host, endpoints: Number(endpoints) };
  }

  #row(table: string, key: Row): Row {
    const row = this.#tables.get(table, key);
    if (row === undefined) throw new Error(`${table} has no row ${JSON.stringify(key)}`);
    return row;
  }
}

type EndpointStore = ReturnType<Code['endpointStore']>;

/** The store of either version. The previous one counts no hosts and writes updates itself. */
type AnyEndpointStore = Partial<EndpointStore> & {
  update?(orgId: OrgId, id: ReceiverId, settings: Pick<Endpoint, 'events'>): Promise<unknown>;
  remove?(orgId: OrgId, id: ReceiverId, now: Date): unknown;
};

/** The key by which the world knows a row of a sandbox. */
function nameOf({ pk, sk, name, kind, webhookId, generation, id, hour, body }: Row): string {
  if (name !== undefined) return String(name);
  if (body !== undefined) return String(sk);
  if (hour !== undefined) return [webhookId, generation, hour].join('/');
  if (kind === 'endpoint-disabled') return String(webhookId);
  return webhookId === undefined ? String(pk) : [webhookId, generation, id].join('/');
}
