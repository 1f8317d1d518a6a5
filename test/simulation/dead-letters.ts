import { dueIndex } from '../../functions/delivery/due-index.ts';
import { getWorkKey, outboxStore, WORK } from '../../functions/delivery/outbox.ts';
import { processDeadEntries } from '../../functions/delivery/outbox-readers.ts';
import { processDeadDeliveryMessage } from '../../functions/delivery/reconcile.ts';
import type { OutboxWork } from '../../functions/delivery/redelivery.ts';
import type { EntryKey } from '../../functions/events/events.ts';
import { nameOf, tenantOf } from './entries.ts';
import { fanOutOf, PATIENCE_MS } from './functions.ts';
import type { Invoke } from './invocations.ts';
import { EXPIRY_MS } from './promises.ts';
import type { World } from './world.ts';

/** Hours after which a record of the stream cannot be read any more. */
const STREAM_HOURS = 24;
const MS_PER_HOUR = 3_600_000;

/** The name of the entry with a key. */
function nameIn({ pk, sk }: EntryKey): string {
  if (sk === 'redelivery') return pk;
  return sk.startsWith('retry#') ? `${pk}#${sk}` : sk;
}

/** The functions that process messages of dead-letter queues and failure destinations. */
export class DeadLetters {
  readonly #world: World;
  readonly #invoke: Invoke;

  constructor(world: World, invoke: Invoke) {
    this.#world = world;
    this.#invoke = invoke;
  }

  deadMessage(): void {
    const { deadMessages, clock, terms, witness, organizations, statistics } = this.#world;
    const letter = deadMessages.receive(clock.ms);
    if (letter === undefined) return;
    if (organizations.isOver(letter.content)) statistics.count('dead letters of deleted data');
    this.#invoke(
      'dead-delivery-messages',
      async ({ tables, log, now }) => {
        const due = dueIndex(tables.deliveries);
        await processDeadDeliveryMessage({ due, log, now }, terms)(letter.content);
      },
      (failed) => {
        if (failed) return;
        deadMessages.remove(letter);
        witness.buried(letter.content);
      },
    );
  }

  deadFanOut(): void {
    const { deadFanOuts, clock, entries, outboxShards } = this.#world;
    const letter = deadFanOuts.receive(clock.ms);
    if (letter === undefined) return;
    const { content } = letter;
    const shard = outboxShards.find(({ id }) => content.kind === 'records' && id === content.records.shardId);
    const records =
      content.kind === 'records'
        ? (shard?.records.slice(
            Number(content.records.startSequenceNumber) - 1,
            Number(content.records.endSequenceNumber),
          ) ?? [])
        : [];
    const named =
      content.kind === 'entries' ? content.keys.flatMap((key) => entries.get(nameIn(key)) ?? []) : [];
    const concerned = [...records.map(({ value }) => value), ...named];
    if (concerned.some(({ owed }) => this.#world.organizations.isOver(tenantOf(owed))))
      this.#world.statistics.count('dead fan-outs of deleted data');
    const isForgotten = () =>
      records.some(({ writtenMs }) => clock.ms - writtenMs > STREAM_HOURS * MS_PER_HOUR);
    const again = new Set<string>();
    let isKept = false;
    this.#invoke(
      'dead-fan-outs',
      async (reach) => {
        const { find } = outboxStore(reach.tables.outbox);
        const ports = reach.gate('dead', {
          readStream: async () => (isForgotten() ? undefined : records.map(({ value }) => value.row)),
          handOver: async (works: readonly OutboxWork[]) => {
            deadFanOuts.send({ kind: 'entries', keys: works.map(getWorkKey) }, clock.ms + PATIENCE_MS);
            for (const work of works) again.add(nameOf(work));
            return [];
          },
        });
        const processMessage = processDeadEntries({
          async read(letter) {
            const rows =
              letter.kind === 'records' ? await ports.readStream() : await Promise.all(letter.keys.map(find));
            return rows?.flatMap((row) => (row && WORK.parse(row)) ?? []);
          },
          handle: fanOutOf(reach),
          handOver: ports.handOver,
          describe: WORK.describe,
          log: reach.log,
          now: reach.now,
        });
        const { abandoned, retryInSeconds } = await processMessage(content);
        if (retryInSeconds !== undefined) {
          deadFanOuts.hide(letter, clock.ms + retryInSeconds * 1000);
          isKept = true;
          return;
        }
        if (
          abandoned > 0 &&
          !isForgotten() &&
          concerned.every((entry) => this.#world.ageMs(entry) < EXPIRY_MS - this.#world.faults.maxSkewMs)
        )
          this.#world.witness.tell('nothing lost', 'the fan-out gave up what it could still have processed');
        for (const entry of concerned) {
          if (again.has(nameOf(entry.owed))) continue;
          if (abandoned > 0) entry.isAbandoned = true;
          else this.#world.isDone(entry);
        }
      },
      (failed) => {
        if (!failed && !isKept) deadFanOuts.remove(letter);
      },
    );
  }
}
