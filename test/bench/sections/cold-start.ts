import { type Block, type Figure, figure } from '../figure.ts';
import { type Loads, measureLoads } from '../loads.ts';
import type { Bench, Section } from '../section.ts';

/** A run is the median of some loads of each function. */
const RUNS = 3;
const LOADS = 5;
const SMOKE = { runs: 2, loads: 3 };
/** The most that a function may take to load, as a ratio to the floor. */
const MAX_RATIO = 1.35;
/** The functions of a short run: those of the hot path. */
const FEW = ['create-message', 'fan-out', 'dispatch'];

/** Load times of functions, by name: of all, or in a short run the ratios of a few. */
export async function loadFigures({
  isSmoke,
  runs = isSmoke ? SMOKE.runs : RUNS,
  progress,
}: Pick<Bench, 'isSmoke' | 'runs' | 'progress'>): Promise<Figure[]> {
  const all: Loads[] = [];
  const loads = isSmoke ? SMOKE.loads : LOADS;
  for (let run = 1; run <= runs; run += 1) {
    progress(`run ${run} of ${runs}, ${loads} loads of each function`);
    all.push(await measureLoads({ runs: loads, ...(isSmoke && { only: FEW }) }));
  }
  const [first] = all;
  const floor = all.map((one) => one.floor);
  const rows = (first?.functions ?? []).flatMap(({ name, kib, assetKib }) => {
    const own = all.flatMap(({ functions }) => functions.filter((one) => one.name === name));
    return [
      ...(isSmoke
        ? []
        : [
            loadOf(
              name,
              own.map(({ ms }) => ms),
            ),
          ]),
      figure(
        name,
        'ratio',
        own.map(({ ratio }) => ratio),
        { unit: 'x' },
      ),
      figure(name, 'code', kib, { unit: 'KiB', exact: true }),
      ...(isSmoke ? [] : [figure(name, 'deployed', assetKib, { unit: 'KiB', exact: true })]),
    ];
  });
  return isSmoke ? rows : [loadOf('(floor)', floor), ...rows];
}

const loadOf = (name: string, values: readonly number[]): Figure =>
  figure(name, 'CPU over empty', values, { unit: 'ms', better: name === '(floor)' ? 'neither' : 'less' });

async function run(bench: Bench): Promise<Block[]> {
  const figures = await loadFigures(bench);
  const over = figures.filter(({ measure, median }) => measure === 'ratio' && median > MAX_RATIO);
  return [
    {
      title: 'Load of each function, over a handler that loads nothing',
      figures,
      notes: [
        "Processor time in fresh processes. The floor is the SDK's DynamoDB client and the schema library alone, bundled the same way. Code is the largest file, which one process loads.",
        `Over the bound of ${MAX_RATIO}: ${over.map(({ subject }) => subject).join(', ') || 'none'}.`,
      ],
    },
  ];
}

export const coldStart: Section = {
  name: 'cold-start',
  about: 'load time and size of every function, over an empty handler, as a ratio to the floor',
  run,
};
