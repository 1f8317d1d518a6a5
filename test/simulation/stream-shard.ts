/** A record of a stream with its position in its shard. */
export interface StreamRecord<T> {
  value: T;
  sequence: number;
  writtenMs: number;
}

/** A part of a shard that a function is processing. */
export interface Batch<T> {
  from: number;
  records: readonly StreamRecord<T>[];
}

/** The mapping's settings for a batch that fails. */
interface Patience {
  /** Failures in a row after which a batch is given up. */
  tries: number;
  giveUp(from: number, to: number): void;
}

/**
 * A shard of a stream with its mapping: one batch at a time, repeated from its first failure in other
 * batches. As in Lambda, a record is delivered at least once.
 */
export class StreamShard<T> {
  readonly id: string;
  readonly records: StreamRecord<T>[] = [];
  /** Until when no batch is read. */
  stalledUntilMs = 0;
  readonly #patience: Patience | undefined;
  #checkpoint = 0;
  #failures = 0;
  #busy: Batch<T> | undefined;

  constructor(id: string, patience?: Patience) {
    this.id = id;
    this.#patience = patience;
  }

  write(value: T, writtenMs: number): StreamRecord<T> {
    const record = { value, sequence: this.records.length + 1, writtenMs };
    this.records.push(record);
    return record;
  }

  /** Whether there is a record for a function that has no other batch of this shard. */
  waits(nowMs: number): boolean {
    return this.#busy === undefined && this.#checkpoint < this.records.length && this.stalledUntilMs <= nowMs;
  }

  get isDrained(): boolean {
    return this.#busy === undefined && this.#checkpoint === this.records.length;
  }

  take(most: number): Batch<T> {
    const from = this.#checkpoint;
    this.#busy = { from, records: this.records.slice(from, from + most) };
    return this.#busy;
  }

  /**
   * The function answered. Ignored after its timeout.
   * @param failed sequence numbers of the records to repeat
   */
  answered(batch: Batch<T>, failed: readonly number[]): void {
    if (this.#busy !== batch) return;
    const first = failed.length === 0 ? undefined : Math.min(...failed);
    this.#goOn(first === undefined ? batch.from + batch.records.length : first - 1, first !== undefined);
  }

  /** The function failed, or was lost. */
  failed(batch: Batch<T>): void {
    if (this.#busy === batch) this.#goOn(batch.from, true);
  }

  /** Repeats processed records, as a mapping may. */
  rewind(records: number): void {
    if (this.#busy === undefined) this.#checkpoint = Math.max(0, this.#checkpoint - records);
  }

  #goOn(checkpoint: number, failing: boolean): void {
    const batch = this.#busy;
    this.#failures = failing ? this.#failures + 1 : 0;
    this.#checkpoint = checkpoint;
    this.#busy = undefined;
    if (batch === undefined || this.#patience === undefined || this.#failures <= this.#patience.tries) return;
    const end = batch.from + batch.records.length;
    this.#patience.giveUp(checkpoint, end);
    this.#checkpoint = end;
    this.#failures = 0;
  }
}
