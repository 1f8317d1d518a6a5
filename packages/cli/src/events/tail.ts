import type { Client } from '../../../sdk/src/index.ts';
import type { EventType } from '../event-types.ts';
import { isTransient } from '../report.ts';
import type { ListedEvent } from './view.ts';

export interface TailOptions {
  types: readonly EventType[] | undefined;
  /** Where to begin; without it and without a cursor, after the newest event. */
  from: Date | undefined;
  /** Continues after the batch that had it. */
  cursor: string | undefined;
  signal: AbortSignal;
  /** Called once per interruption, with what was wrong, and when the API answers again. */
  onTrouble(error: unknown): void;
  onRecovery(): void;
  /** Milliseconds between reads at the end of the log. */
  pollMs?: number;
}

/** Events in the order of the log, with the cursor to continue after them. */
export interface TailBatch {
  events: readonly ListedEvent[];
  cursor: string;
}

/**
 * Follows the event log without gaps: after an interruption it continues behind the last batch.
 * @throws ApiError that does not pass, such as one of a refused key
 */
export async function* tail(
  client: Client,
  options: TailOptions,
): AsyncGenerator<TailBatch, void, undefined> {
  const { signal, types, onTrouble, onRecovery, pollMs } = options;
  let { cursor } = options;
  const from = cursor === undefined ? (options.from ?? (await afterNewest(client, signal))) : undefined;
  let isTroubled = false;
  for (;;) {
    try {
      const batches = client.events.follow(
        { ...(types && { type: types }), ...(from && { from: from.toISOString() }), limit: 100 },
        { signal, ...(cursor !== undefined && { cursor }), ...(pollMs !== undefined && { pollMs }) },
      );
      for await (const { data, followCursor } of batches) {
        if (isTroubled) onRecovery();
        isTroubled = false;
        yield { events: data, cursor: followCursor };
        cursor = followCursor;
      }
    } catch (error) {
      signal.throwIfAborted();
      if (!isTransient(error)) throw error;
      // The client has waited between its tries already.
      if (!isTroubled) onTrouble(error);
      isTroubled = true;
    }
  }
}

/** Independent of this machine's clock. @returns undefined when there are no events yet */
async function afterNewest(client: Client, signal: AbortSignal): Promise<Date | undefined> {
  const { data } = await client.events.list({ limit: 1 }, { signal }).page();
  const [newest] = data;
  return newest === undefined ? undefined : new Date(Date.parse(newest.createdAt) + 1);
}
