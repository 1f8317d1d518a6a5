import type { Delivery } from '../../../functions/delivery/delivery.ts';
import type { DueEntry, DueRange } from '../../../functions/delivery/due-index.ts';
import { DUE_STATES, type DueState, keys } from '../../../functions/tenancy/keys.ts';
import type { Stores } from './stores.ts';

type DueIndex = Stores['due'];

/** A time by which all entries are due. */
const FAR = new Date('2100-01-01T00:00:00.000Z');

/** All pages of one shard: those of all organizations, then what these have besides. */
export async function pagesOf(
  due: DueIndex,
  state: DueState,
  shard: number,
  until = FAR,
): Promise<DueEntry[][]> {
  const pages: DueEntry[][] = [];
  const positions: (DueRange | undefined)[] = [undefined];
  for (let read = 0; read < positions.length; read += 1) {
    const { entries, next, more = [] } = await due.find(state, shard, until, positions[read]);
    pages.push(entries);
    positions.push(...(next === undefined ? [] : [next]), ...more);
  }
  return pages;
}

/** The entries of a delivery: none, or one with one state. */
export async function placesOf(due: DueIndex, { id }: Pick<Delivery, 'id'>): Promise<DueEntry[]> {
  const pagesOfStates = await Promise.all(
    DUE_STATES.map((state) =>
      pagesOf(due, state, shardOf(keys.dueOf(state, id))).then((pages) => pages.flat()),
    ),
  );
  return pagesOfStates.flat().filter(({ message: deliveryMessage }) => deliveryMessage.id === id);
}

const shardOf = (dueIn: string): number => Number(dueIn.slice(dueIn.indexOf('#') + 1));
