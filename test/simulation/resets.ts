import type { OrgId } from '../../functions/aws/ids.ts';
import { sandboxStore } from '../../functions/tenancy/organizations.ts';
import { purgeStore } from '../../functions/tenancy/purge.ts';
import type { Tenant } from '../../functions/tenancy/tenant.ts';
import type { Customers } from './customers.ts';
import { tenantOf } from './entries.ts';
import { isOpen } from './moves.ts';
import type { World } from './world.ts';

const MS_PER_HOUR = 3_600_000;
const MOST_RESETS = 4;
/** Seconds for which a request that began before a reset may still commit. */
const LONGEST_REQUEST = 29;

/** Resets of sandboxes by their admins, with requests in progress. */
export class Resets {
  readonly #world: World;
  readonly #customers: Customers;

  constructor(world: World, customers: Customers) {
    this.#world = world;
    this.#customers = customers;
  }

  /** @returns whether there was a sandbox to reset */
  reset(): boolean {
    const { random, organizations, processes, faults } = this.#world;
    if (organizations.sandboxes.length === 0 || organizations.resets >= MOST_RESETS) return false;
    const orgId = random.pick(organizations.sandboxes);
    if (!faults.isCalm && !processes.isUnderWay && random.chance(0.2)) this.#waitForAudit();
    this.#begin(orgId);
    if (random.chance(0.2)) this.#begin(orgId);
    return true;
  }

  /** Lets hours pass, until the audit is about to check the existing deliveries. */
  #waitForAudit(): void {
    const { random, clock } = this.#world;
    const hour = Math.floor(clock.ms / MS_PER_HOUR) + random.pick([3, 6, 24]);
    clock.elapseUntil(new Date(hour * MS_PER_HOUR + random.pick([-100_000, -10_000, 0, 1000])));
  }

  #begin(orgId: OrgId): void {
    const { random, organizations, tables, clock, faults, trace } = this.#world;
    const tenant = organizations.tenantOf(orgId);
    for (const what of underWay(this.#world, tenant)) this.#world.statistics.count(`resets: ${what}`);
    if (!faults.isCalm) this.#beginRequests(tenant);
    const skewMs = random.between(-faults.maxSkewMs, faults.maxSkewMs);
    organizations.reset(orgId);
    const requestedAt = new Date(clock.ms + skewMs);
    const service = tables.table('service');
    void this.#customers.commit([
      sandboxStore(service).nextGeneration(tenant, requestedAt),
      purgeStore(service).order({ ...tenant, requestedAt: requestedAt.toISOString() }),
    ]);
    trace?.(`a customer  resets ${orgId}, which was at generation ${tenant.generation}`);
  }

  /** Requests that have read the current generation, and commit later. */
  #beginRequests(tenant: Tenant): void {
    const { random, processes } = this.#world;
    for (let count = random.pick([0, 1, 2]); count > 0; count -= 1) {
      const isOfIt = ({ orgId, generation }: Tenant) =>
        orgId === tenant.orgId && generation === tenant.generation;
      const commit = random.chance(0.7)
        ? () => void this.#customers.sendOf(tenant)
        : this.#customers.redelivery(isOfIt);
      if (commit !== undefined)
        void processes.later(random.between(0, LONGEST_REQUEST), 'a request to commit', async () => commit());
    }
  }
}

/** What a reset interrupts, as names for the statistics. */
function* underWay(world: World, tenant: Tenant): Generator<string> {
  const { tables, lanes, deliveryStream, entries, clock } = world;
  const isOfIt = ({ orgId, generation }: Tenant) =>
    orgId === tenant.orgId && generation === tenant.generation;
  const own = [...tables.deliveries.values()].filter(isOfIt);
  if (own.some(({ lease }) => lease !== undefined && lease.until > clock.ms)) yield 'attempts in progress';
  if (own.some(({ id }) => world.witness.attempts.isOrphaned(id))) yield 'attempts of lost workers';
  if (own.some(({ parked }) => parked)) yield 'deliveries parked';
  if (own.some((delivery) => isOpen(delivery) && delivery.attempts > 0 && delivery.lease === undefined))
    yield 'deliveries between two attempts';
  if (lanes.deliveryMessages.some(isOfIt)) yield 'messages in queues';
  if (own.some(({ id }) => !deliveryStream.isCounted(id))) yield 'changes not counted';
  for (const { owed, done } of entries.values()) {
    if (done !== undefined || !isOfIt(tenantOf(owed))) continue;
    yield 'events not fanned out';
    break;
  }
  if ([...tables.purges.values()].some(({ orgId }) => orgId === tenant.orgId))
    yield 'an earlier purge not done';
}
