import type { Block } from '../figure.ts';
import { startDispatching } from '../measure/dispatching.ts';
import { withService } from '../measure/service.ts';
import type { Bench, Section } from '../section.ts';
import { loadFigures } from './cold-start.ts';
import { unitsOfDelivery } from './growth.ts';
import { handlerFigures } from './handlers.ts';
import { limitFigures } from './limit.ts';

async function run(bench: Bench): Promise<Block[]> {
  bench.progress('units of a delivery');
  const units = await unitsOfDelivery();
  bench.progress('load of a few functions');
  const loads = await loadFigures(bench);
  bench.progress('the service starts');
  return withService(async (measured) => {
    const dispatching = await startDispatching(measured);
    try {
      const limit = await limitFigures(dispatching, bench);
      const handlers = await handlerFigures(measured, bench);
      return [
        {
          title: 'Units of a delivery, from the commit of its event to its end and its count',
          figures: units,
        },
        { title: 'Processor time of a delivery, over that of a bare loop', figures: limit },
        { title: 'Processor time of a call, over that of a handler that does nothing', figures: handlers },
        {
          title: "Load of a function, over that of the SDK's client and the schema library alone",
          figures: loads,
        },
      ];
    } finally {
      await dispatching.stop();
    }
  });
}

/** Ratios only, by which two checkouts on one machine are comparable. */
export const smoke: Section = { name: 'smoke', about: 'ratios alone', run };
