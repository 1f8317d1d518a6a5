import type { DeliveryMessage, OutgoingMessage } from '../../functions/domain/delivery.ts';
import type { EventId } from '../../functions/domain/ids.ts';
import { LANES, type Lane } from '../../functions/domain/lanes.ts';
import type { LedgerEntry } from '../../functions/domain/ledger.ts';
import { MemoryDeliveries } from '../doubles/memory-deliveries.ts';
import { MemoryDueIndex } from '../doubles/memory-due-index.ts';
import { MemoryEndpoints } from '../doubles/memory-endpoints.ts';
import { MemoryLedger } from '../doubles/memory-ledger.ts';
import { MemoryPurges } from '../doubles/memory-purges.ts';
import { MemoryRateSchedules } from '../doubles/memory-rate-schedules.ts';
import { PRESENT } from './engine.ts';
import type { Process } from './processes.ts';
import type { SandboxTables } from './sandbox-tables.ts';
import type { OwnStores, Stores } from './stores.ts';
import type { TableName } from './table-names.ts';
import type { Witness } from './witness.ts';
import type { WorldContext } from './world-context.ts';

type World = WorldContext & { readonly witness: Witness; readonly sandboxTables: SandboxTables };

const MS_PER_HOUR = 3_600_000;

/** The doubles of the stores, shared by all processes, which run the present code. */
export class MemoryStores implements Stores {
  readonly endpoints = new MemoryEndpoints();
  readonly deliveries: MemoryDeliveries;
  readonly ledger = new MemoryLedger();
  readonly purges = new MemoryPurges();
  readonly mayMissWarnings = false;
  readonly keepLimits = true;
  readonly #schedules = new MemoryRateSchedules();
  readonly #due: MemoryDueIndex;
  readonly #world: World;

  constructor(world: World) {
    this.#world = world;
    const { terms, organizations } = world;
    this.deliveries = new MemoryDeliveries(this.endpoints, terms.graceSeconds, organizations.standings);
    this.#due = new MemoryDueIndex(this.deliveries, { sharded: false, pageSize: world.duePage });
  }

  commit(): void {
    // The stream returns the entry itself.
  }

  record(): void {
    // The world has recorded it already.
  }

  lose(event: EventId): void {
    this.#world.events.delete(event);
  }

  of(process: Process): OwnStores {
    const { deliveries, endpoints, ledger, purges } = this;
    const world = this.#world;
    const { lanes, organizations, witness } = world;
    return {
      engine: PRESENT,
      lanes: LANES,
      deliveries,
      schedules: this.#schedules,
      endpoints,
      due: this.#due,
      ledger: {
        add: (part, entry) => ledger.add(part, entry),
        inHour: async (hour) => ({ entries: ledger.every.filter((entry) => entry.hour === hour) }),
        correct: (seen, counts) => ledger.correct(seen, counts),
      },
      rows: { inHour: async (entry) => ({ deliveries: this.#inHour(entry) }) },
      purges,
      remains: this.#remains(process),
      queues: {
        send: (lane: Lane, messages) => lanes.send(lane, byTrueTime(process, messages)),
        hide: (lane, receiptHandle, until) =>
          lanes.hide(lane, receiptHandle, new Date(until.getTime() - process.skewMs)),
        crowded: (lane) => lanes.crowded(lane),
        backlog: (lane) => lanes.backlog(lane),
      },
      standing: async (orgId) => organizations.standings.present(orgId),
      contexts: async (reminders) => {
        witness.resetDeletion.reads(process, reminders);
        return this.#contexts(reminders);
      },
      owed: ({ owed }) => owed,
      find: async (entry) => (entry.isPurged ? undefined : entry.owed),
      changes: (records) => records.map(({ value, sequence }) => ({ ...value, sequence: String(sequence) })),
      reminder: (reminder) => reminder,
    };
  }

  #remains(process: Process): OwnStores['remains'] {
    const { sandboxTables, witness } = this.#world;
    const watched = ({ find, remove }: OwnStores['remains'][TableName]) => ({
      find(...[tenant, limit]: Parameters<typeof find>) {
        witness.resetDeletion.purges(process, tenant);
        return find(tenant, limit);
      },
      remove,
    });
    const { outbox, deliveries, ledger, service } = sandboxTables.all;
    return {
      outbox: watched(outbox),
      deliveries: watched(deliveries),
      ledger: watched(ledger),
      service: watched(service),
    };
  }

  #inHour({ webhookId, generation, hour }: LedgerEntry) {
    return this.deliveries.every.filter(
      (delivery) =>
        delivery.webhookId === webhookId &&
        delivery.generation === generation &&
        Math.floor(this.#world.createdMs(delivery.id) / MS_PER_HOUR) * MS_PER_HOUR ===
          new Date(hour).getTime(),
    );
  }

  #contexts(reminders: readonly DeliveryMessage[]) {
    const { history, random, staleReads, events } = this.#world;
    const found = new Map(
      reminders.map(({ orgId, webhookId }) => [
        webhookId,
        history.staleRead(orgId, webhookId, random, staleReads),
      ]),
    );
    return ({ webhookId, eventId }: DeliveryMessage) => ({
      endpoint: found.get(webhookId),
      event: events.get(eventId),
    });
  }
}

/** A queue measures a delay with its own clock, and its caller with another. */
const byTrueTime = (process: Process, messages: readonly OutgoingMessage[]): OutgoingMessage[] =>
  messages.map(({ message: reminder, until }) => ({
    message: reminder,
    ...(until === undefined ? {} : { until: new Date(until.getTime() - process.skewMs) }),
  }));
