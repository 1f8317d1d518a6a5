import type { ClaimedDelivery, DeliveryMessage } from '../../functions/domain/delivery.ts';
import type { DeliveryId, ReceiverId } from '../../functions/domain/ids.ts';
import type { Turn } from '../../functions/engine/endpoint-turns.ts';
import type { PromiseName } from './promises.ts';
import type { WorldContext } from './world-context.ts';

/** Clocks and stored times are compared as fractions of milliseconds. */
const ROUNDING_MS = 0.01;

/** Observations of the turns at endpoints with a limit of attempts per second. */
export class Limits {
  readonly #world: WorldContext;
  readonly #tell: (promise: PromiseName, detail: string) => void;
  readonly #limits = new Map<ReceiverId, number>();
  readonly #starts = new Map<ReceiverId, number[]>();
  /** Turns that no attempt has used yet. */
  readonly #unused = new Map<DeliveryId, number>();

  constructor(world: WorldContext, tell: (promise: PromiseName, detail: string) => void) {
    this.#world = world;
    this.#tell = tell;
  }

  registered(id: ReceiverId, maxPerSecond: number | undefined): void {
    if (maxPerSecond !== undefined) this.#limits.set(id, maxPerSecond);
  }

  isLimited(id: ReceiverId): boolean {
    return this.#limits.has(id);
  }

  given({ id, webhookId }: DeliveryMessage, turn: Turn): void {
    this.#world.statistics.count(`turns: ${turn.kind}`);
    if (turn.kind !== 'start') return;
    this.#unused.set(id, (this.#unused.get(id) ?? 0) + 1);
    const starts = this.#starts.get(webhookId) ?? [];
    const interval = 1000 / (this.#limits.get(webhookId) ?? 0);
    const near = starts.find((other) => Math.abs(other - turn.at) < interval - ROUNDING_MS);
    if (near !== undefined)
      this.#tell('within its limit', `${id} has a turn ${turn.at - near} ms after another at ${webhookId}`);
    this.#starts.set(webhookId, [...starts, turn.at]);
  }

  /** An attempt reaches its receiver. */
  attemptStarts({ id, attempts, webhookId }: ClaimedDelivery): void {
    if (!this.isLimited(webhookId)) return;
    const left = (this.#unused.get(id) ?? 0) - 1;
    this.#unused.set(id, left);
    if (left < 0) this.#tell('within its limit', `attempt ${attempts} of ${id} started without a turn`);
  }
}
