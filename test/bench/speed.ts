import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { among, commandLine, repeatable, text, wholeNumber } from 'terminal/command-line.ts';
import { paintFor } from 'terminal/paint.ts';
import { type Bench, type Block, describeMachine, renderBlock } from './figure.ts';
import { latency } from './latency.ts';
import { load } from './load.ts';
import { endWhenInterrupted } from './measure/resources.ts';
import { throughput } from './throughput.ts';

/* Measures the speed of the service on this machine. It asserts nothing. */

const SECTIONS = [throughput, latency, load];

const {
  only = [],
  out,
  ...options
} = commandLine(
  'npm run bench -- speed',
  'Measures the service on this machine: each figure with the median of its runs and their spread. All sections together take about 20 minutes on a machine that does nothing else.',
)
  .option(
    '--only <section>',
    'this one; may be repeated',
    repeatable(among(SECTIONS.map(({ name }) => name))),
  )
  .option(
    '--runs <n>',
    'runs of each figure, instead of what a section takes for right',
    wholeNumber(1, 1000),
  )
  .option(
    '--seconds <n>',
    'of each window in which load is held (throughput 60, latency 20)',
    wholeNumber(3, 3600),
  )
  .option('--out <file>', 'also writes the figures, with those of each run, as JSON', text)
  .addHelpText(
    'after',
    `\nSections:\n${SECTIONS.map(({ name, about }) => `  ${name.padEnd(12)}${about}`).join('\n')}`,
  )
  .parse()
  .opts();

endWhenInterrupted();
const paint = paintFor(process.stdout);
const dim = paintFor(process.stderr);
const machine = describeMachine();
process.stdout.write(`\n  ${paint('bold', 'Speed')} of ${machine}\n\n`);

const found: Bench['found'] = {};
const blocks: Block[] = [];
for (const { name, run } of SECTIONS) {
  if (only.length > 0 && !only.includes(name)) continue;
  const began = performance.now();
  const progress = (step: string) => {
    const seconds = ((performance.now() - began) / 1000).toFixed(0).padStart(6);
    process.stderr.write(`${dim('dim', `${seconds} s  ${name.padEnd(12)}${step}`)}\n`);
  };
  const measured = await run({ ...options, found, progress });
  process.stdout.write(`${measured.map((block) => renderBlock(block, paint)).join('\n')}\n`);
  blocks.push(...measured);
  if (out === undefined) continue;
  // Earlier results stay when a later section fails.
  mkdirSync(dirname(out), { recursive: true });
  writeFileSync(out, `${JSON.stringify({ machine, blocks }, null, 1)}\n`);
}
