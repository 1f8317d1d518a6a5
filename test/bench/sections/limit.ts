import { setTimeout as sleep } from 'node:timers/promises';
import { type Block, type Figure, figure } from '../figure.ts';
import { type Dispatching, type Extent, startDispatching } from '../measure/dispatching.ts';
import { variableOf } from '../measure/processor-time.ts';
import { type MeasuredService, withService } from '../measure/service.ts';
import { median } from '../measure/statistics.ts';
import type { Bench, Section } from '../section.ts';

const WHOLE: Extent = { runs: 7, warming: 1000, each: 500 };
const SMOKE: Extent = { runs: 5, warming: 400, each: 150 };
/**
 * Receivers close connections that have been idle for a second or a few, so only frequently used ones stay
 * open.
 */
const KINDS = [
  { subject: 'batches of 10', batch: 10, isKept: true },
  { subject: 'one record a batch', batch: 1, isKept: true },
  { subject: 'batches of 10, a new connection each', batch: 10, isKept: false },
];
/** Messages posted at once, so that batches form as they do under load. */
const BURST = 400;
const BURST_LANES = 16;
const QUIET_MS = 2_000;

/** The dispatcher's processor time for a delivery, over that of the bare loop. */
export async function limitFigures(
  dispatching: Dispatching,
  { isSmoke, runs, progress }: Pick<Bench, 'isSmoke' | 'runs' | 'progress'>,
): Promise<Figure[]> {
  const extent = { ...(isSmoke ? SMOKE : WHOLE), ...(runs === undefined ? {} : { runs }) };
  const figures: Figure[] = [];
  for (const { subject, batch, isKept } of isSmoke ? KINDS.slice(0, 1) : KINDS) {
    dispatching.receivers.closeConnections(!isKept);
    progress(`${subject}: the dispatcher`);
    const dispatcher = await dispatching.dispatcher(batch, extent);
    progress(`${subject}: the bare loop`);
    const bare = await dispatching.bareLoop(batch, extent);
    const floor = median(bare);
    figures.push(
      ...(isSmoke
        ? []
        : [
            figure(subject, 'dispatcher', dispatcher, { unit: 'ms' }),
            figure(subject, 'bare loop', bare, { unit: 'ms', better: 'neither' }),
          ]),
      figure(
        subject,
        'ratio',
        dispatcher.map((cpuMs) => cpuMs / floor),
        { unit: 'x' },
      ),
    );
  }
  dispatching.receivers.closeConnections(false);
  return figures;
}

/** The records of the dispatcher's batches when many messages arrive at once. */
async function batchFill({ tenant, receivers }: Dispatching, { taken }: MeasuredService): Promise<number[]> {
  await tenant.api.register(receivers.url('/fill'), ['message.received']);
  const path = `/api/v1/conversations/${await tenant.api.createConversation()}/messages`;
  taken();
  let left = BURST;
  const lane = async () => {
    while (left-- > 0) await tenant.api.post(path, { role: 'user', content: 'm'.repeat(512) });
  };
  await Promise.all(Array.from({ length: BURST_LANES }, lane));
  await sleep(QUIET_MS);
  return taken()
    .filter(({ pid }) => variableOf(pid, 'FUNCTION_NAME') === 'dispatch')
    .map(({ records }) => records);
}

async function run(bench: Bench): Promise<Block[]> {
  return withService(async (measured) => {
    const dispatching = await startDispatching(measured);
    try {
      const figures = await limitFigures(dispatching, bench);
      bench.progress('batches under load');
      const fill = await batchFill(dispatching, measured);
      const mean = fill.reduce((sum, records) => sum + records, 0) / fill.length;
      return [
        {
          title: 'Processor time of a delivery, against a loop that does nothing but sign and send it',
          figures,
          notes: [
            'The bundled dispatcher over the embedded engines, in a process with the options that Lambda gives: heap size alone, no check of permissions. Loop and dispatcher send the same body to the same receiver, as many at once, over kept connections or over new ones, whose TLS sessions both resume.',
          ],
        },
        {
          title: 'Batches that come about',
          figures: [
            figure(`${BURST} messages over ${BURST_LANES} connections`, 'mean fill', mean, {
              unit: 'records',
              better: 'more',
            }),
          ],
        },
      ];
    } finally {
      await dispatching.stop();
    }
  });
}

export const limit: Section = {
  name: 'limit',
  about: 'CPU of the dispatcher by delivery, over that of a bare loop that signs and sends',
  run,
};
