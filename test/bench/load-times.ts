import { cpus } from 'node:os';
import { parseArgs, styleText } from 'node:util';
import { type Load, type Loads, measureLoads } from './loads.ts';

/*
 * Measures how long each function's code takes to load in a fresh process, over one that loads nothing, and compares it with the
 * floor: the schema library and the DynamoDB client bundled alone.
 */
const { values: options } = parseArgs({
  options: {
    runs: { type: 'string', default: '15' },
    only: { type: 'string', multiple: true },
    json: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});
if (options.help) {
  process.stdout.write(`Usage: node test/bench/load-times.ts [--runs 15] [--only FUNCTION]… [--json]

  Loads each function's bundle in fresh processes. Prints the processor time that it takes over an empty handler, as a
  median with its quartiles and as a ratio to the floor (zod/mini and the DynamoDB client, bundled alone), the size of
  the largest file of code, and that of all that is deployed.
`);
  process.exit(0);
}

const loads = await measureLoads({
  runs: Number(options.runs),
  ...(options.only === undefined ? {} : { only: options.only }),
});
process.stdout.write(options.json ? `${JSON.stringify(loads, null, 2)}\n` : tableOf(loads));

function tableOf({ floor, functions }: Loads): string {
  const row = (name: string, ...cells: string[]) =>
    [name.padEnd(24), ...cells.map((cell) => cell.padStart(10))].join('').trimEnd();
  const rowOf = ({ name, ms, spread: [low, high], ratio, kib, assetKib }: Load) =>
    row(
      name,
      ms.toFixed(1),
      `${low.toFixed(1)}–${high.toFixed(1)}`,
      ratio.toFixed(2),
      kib.toFixed(0),
      assetKib.toFixed(0),
    );
  return `${cpus().length} x ${cpus()[0]?.model}, Node ${process.version}, ${options.runs} runs

${styleText('dim', row('function', 'ms', 'half in', 'x floor', 'KiB', 'deployed'))}
${row('(floor)', floor.toFixed(1), '', '1.00')}
${functions.map(rowOf).join('\n')}
`;
}
