import { DEFAULT_LINGER_SECONDS } from '../../functions/tenancy/purge.ts';
import type { Written } from '../doubles/tables/memory-tables.ts';
import { STALE_MS } from './endpoint-history.ts';
import type { Process } from './processes.ts';
import { EXPIRY_MS, type PromiseName } from './promises.ts';
import { dueOf } from './tables.ts';
import type { WorldContext } from './world-context.ts';

/** Entries of each kind that a run has time for: one of each organization. */
const ENTRIES_OF_A_RUN = 3;
/** The longest time that an index is behind. */
export const MOST_LAG_SECONDS = 90;

/** Each entry that waits, with its kind of work and its organization. */
type Waiting = ReadonlyMap<string, { kind: string; orgId: string }>;
interface ScheduledRun {
  began: Waiting;
  served: Map<string, number>;
  /** Kinds of work with an organization that had a turn. */
  turns: Set<string>;
}

/** Observations of scheduled workers whose time is used up (docs/architecture.md, Guarantees). */
export class Turns {
  readonly #world: WorldContext;
  readonly #tell: (promise: PromiseName, detail: string) => void;
  /** When each delivery came to its place in the due index. */
  readonly #placedMs = new Map<string, number>();
  readonly #runs = new Map<Process, ScheduledRun>();
  /** Of an organization and kind, the entries that waited in its last run, which has served none of them. */
  readonly #passedOver = new Map<string, readonly string[]>();

  constructor(world: WorldContext, tell: (promise: PromiseName, detail: string) => void) {
    this.#world = world;
    this.#tell = tell;
  }

  written(actor: Process | undefined, { table, before, after }: Written): void {
    const run = actor && this.#runs.get(actor);
    const orgId = String((after ?? before)?.orgId);
    const serve = (kind: string) => {
      run?.served.set(kind, (run.served.get(kind) ?? 0) + 1);
      run?.turns.add(`${kind} of ${orgId}`);
    };
    const [from, to] = [dueOf(before), dueOf(after)];
    if (table === 'deliveries' && (from?.state !== to?.state || from?.dueAt !== to?.dueAt)) {
      this.#placedMs.set(String((after ?? before)?.id), this.#world.clock.ms);
      if (from !== undefined) serve(from.state);
    }
    const isPurge = table === 'service' && String(before?.pk).startsWith('purges#');
    if (isPurge && before?.deleted !== after?.deleted) serve('purge');
  }

  begins(process: Process): void {
    const own = process.kind === 'purge' ? this.#purges() : this.#due();
    this.#runs.set(process, { began: new Map(own), served: new Map(), turns: new Set() });
  }

  /** A run has time until it has served some entries of each kind. */
  hasTime(process: Process): boolean {
    const { began, served } = this.#runOf(process);
    const kinds = new Set([...began.values()].map(({ kind }) => kind));
    return kinds.size === 0 || [...kinds].some((kind) => (served.get(kind) ?? 0) < ENTRIES_OF_A_RUN);
  }

  /** A run has ended that nothing disturbed. */
  ended(process: Process): void {
    const left = new Map([...this.#due(), ...this.#purges()]);
    const { began: atStart, turns } = this.#runOf(process);
    const began = Map.groupBy(atStart, ([, { kind, orgId }]) => `${kind} of ${orgId}`);
    for (const [of, waiting] of began) {
      const entries = waiting.map(([entry]) => entry);
      const before = this.#passedOver.get(of);
      // The turn may be that of an entry that came to its place just now.
      const isServed = turns.has(of) || !entries.every((entry) => left.has(entry));
      this.#passedOver.set(of, isServed ? [] : entries);
      if (!isServed && entries.some((entry) => before?.includes(entry)))
        this.#tell('turns', `two runs in a row have served nothing ${of}`);
    }
  }

  #runOf(process: Process): ScheduledRun {
    return this.#runs.get(process) ?? { began: new Map(), served: new Map(), turns: new Set() };
  }

  /** Entries of the due index that every clock and every copy of the index shows. */
  *#due(): Generator<[string, { kind: string; orgId: string }]> {
    const { tables, clock, faults, createdMs } = this.#world;
    const shownMs = clock.ms - MOST_LAG_SECONDS * 1000 - STALE_MS;
    for (const [id, { state: kind, dueAt }] of tables.due) {
      const delivery = tables.deliveries.get(id);
      const isDue = Date.parse(dueAt) <= clock.ms - faults.maxSkewMs;
      // One that is to expire stays while a worker holds it.
      const isYoung = createdMs(id) > clock.ms - EXPIRY_MS + faults.maxSkewMs;
      if (delivery === undefined || !isDue || !isYoung || (this.#placedMs.get(id) ?? 0) > shownMs) continue;
      yield [`${id} ${kind} ${dueAt}`, { kind, orgId: delivery.orgId }];
    }
  }

  /** Orders to purge that no run holds, and for which the time has come. */
  *#purges(): Generator<[string, { kind: string; orgId: string }]> {
    const { tables, clock, faults } = this.#world;
    const beforeMs = clock.ms - faults.maxSkewMs;
    for (const [key, { orgId, requestedAt, lease, deleted }] of tables.purges) {
      const isHeld = (lease?.until ?? 0) > beforeMs;
      if (isHeld || Date.parse(requestedAt) + DEFAULT_LINGER_SECONDS * 1000 > beforeMs) continue;
      yield [`${key} ${deleted}`, { kind: 'purge', orgId }];
    }
  }
}
