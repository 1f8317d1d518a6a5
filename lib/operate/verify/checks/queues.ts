import { count } from 'terminal/grid.ts';
import { CROWDED_IN_FLIGHT } from '../../../../functions/delivery/lanes.ts';
import { measureQueue, type QueueState, REPROCESSED } from '../../state.ts';
import { type Check, requireNone } from '../check.ts';
import type { VerifyContext } from '../context.ts';

/** Between two reads of a queue with messages. */
const LOOK_AGAIN_MS = 1_000;

export const queueChecks = (context: VerifyContext): Check[] => [
  {
    name: 'Queues',
    async run() {
      const first = await measureAll(context, context.place.queues);
      const stuck = await findStuck(context, first);
      requireNone([...first.filter(isCrowded).map(describeCrowded), ...stuck.map(describeStuck)]);
      const waiting = first.reduce((sum, { visible }) => sum + visible, 0);
      return `${first.length} queues, ${count(waiting)} messages waiting`;
    },
  },
  {
    name: 'Dead letters',
    async run() {
      const all = (await measureAll(context, context.place.deadLetters)).map(({ name, ...counts }) => ({
        name,
        messages: counts.visible + counts.inFlight + counts.delayed,
      }));
      const filled = all.filter(({ messages }) => messages > 0);
      requireNone(
        filled
          .filter(({ name }) => !REPROCESSED.has(name))
          .map(
            ({ name, messages }) =>
              `${name} has ${count(messages)}: npm run operate -- dead-letters list ${name}`,
          ),
      );
      const handled = filled.map(
        ({ name, messages }) => `${count(messages)} of ${name}, which a function handles`,
      );
      return [`${all.length} queues`, ...(handled.length > 0 ? handled : ['none'])].join(', ');
    },
  },
];

const measureAll = (context: VerifyContext, queues: ReadonlyMap<string, string>): Promise<QueueState[]> =>
  Promise.all([...queues].map(([name, url]) => measureQueue(context, name, url)));

/** Queues whose messages do not decrease during the wait. */
async function findStuck(context: VerifyContext, first: readonly QueueState[]): Promise<QueueState[]> {
  const { clock, sleep, waitMs, place } = context;
  const startedAt = clock();
  let suspects = first.filter(({ visible }) => visible > 0);
  while (suspects.length > 0 && clock() - startedAt < waitMs) {
    await sleep(LOOK_AGAIN_MS);
    const names = new Map(suspects.map(({ name, visible }) => [name, visible]));
    const urls = new Map([...place.queues].filter(([name]) => names.has(name)));
    const seen = await measureAll(context, urls);
    suspects = seen.filter(({ name, visible }) => visible > 0 && visible >= (names.get(name) ?? 0));
  }
  return suspects;
}

const isCrowded = ({ inFlight }: QueueState): boolean => inFlight >= CROWDED_IN_FLIGHT;

const describeCrowded = ({ name, inFlight }: QueueState): string =>
  `${name} has ${count(inFlight)} messages in flight, near its limit.`;

const describeStuck = ({ name, visible, inFlight }: QueueState): string =>
  `${name} is stuck: ${count(visible)} waiting and not fewer while it was watched, ${count(inFlight)} in flight.`;
