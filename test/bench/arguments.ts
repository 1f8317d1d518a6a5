import { Option } from '@commander-js/extra-typings';
import { among, commandLine, decimal, repeatable, text, wholeNumber } from 'terminal/command-line.ts';
import { readBenchDocument } from './report/document.ts';

/** Prints the help or the error, and ends the process. */
export function readArguments(args: readonly string[], sections: readonly { name: string; about: string }[]) {
  const {
    only = [],
    smoke: isSmoke = false,
    full: isFull = false,
    growthScale = 1,
    ...given
  } = commandLine(
    'npm run bench -- speed',
    'Measures the service on this machine: each figure with its runs, their median and their spread. Tables are printed, and a JSON file is written beside them. All sections together take about half an hour on a machine that does nothing else.',
  )
    .option(
      '--only <section>',
      'this one; may be repeated',
      repeatable(among(sections.map(({ name }) => name))),
    )
    .addOption(
      new Option('--smoke', 'ratios alone, in less than a minute, to compare two checkouts').conflicts(
        'only',
      ),
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
    .option('--full', 'throughput in all 27 combinations, instead of one dimension at a time')
    .option('--growth-scale <n>', 'of the rows of growth: 0.1 for a tenth', decimal(0.0001, 1))
    .option('--out <file>', 'the JSON file (.local/bench-<time>.json)', text)
    .option(
      '--compare <file>',
      'shows ratios to an earlier one: better and worse are beyond twice the spread of both',
      readBenchDocument,
    )
    .addHelpText(
      'after',
      `\nSections:\n${sections.map(({ name, about }) => `  ${name.padEnd(12)}${about}`).join('\n')}`,
    )
    .parse(args, { from: 'user' })
    .opts();
  return { ...given, only, isSmoke, isFull, growthScale };
}
