import { readFileSync } from 'node:fs';
import { stripVTControlCharacters, styleText } from 'node:util';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { costCommand } from '../../../lib/cost/command.ts';
import type { Paint } from '../../../lib/cost/view.ts';
import { runCommandLine, usageError } from '../../support/command-line.ts';

const MEASURED = JSON.parse(
  readFileSync(new URL('../../../lib/cost/measured.json', import.meta.url), 'utf8'),
);
const plain: Paint = (_, text) => text;

function run(args: string[], paint = plain) {
  let output = '';
  costCommand(args, MEASURED, { output: { write: (text) => (output += text) }, paint });
  return { output };
}

const ASKED = ['--deliveries', '10M', '--failure-rate', '2%'];

describe('npm run cost', () => {
  it('prints a table with each service, the total and the assumptions', () => {
    const { output } = run(ASKED);

    for (const expected of [
      'DynamoDB',
      'Lambda',
      'SQS',
      'CloudWatch',
      'Total',
      'write request units',
      '10 M deliveries',
    ])
      expect(output).toContain(expected);
    expect(output).toMatch(/list prices of \d{4}-\d\d-\d\d/);
    expect(output).toContain(`local run on ${MEASURED.date}`);
  });

  it('fits a terminal of 110 columns, with colours and without', () => {
    const coloured: Paint = (style, text) => styleText(style, text, { validateStream: false });
    const { output } = run([...ASKED, '--reads', '1G', '--hanging-rate', '0.1%'], coloured);
    const bare = stripVTControlCharacters(output);

    expect(output).not.toBe(bare);
    expect(bare).toBe(run([...ASKED, '--reads', '1G', '--hanging-rate', '0.1%']).output);
    const tableLines = bare.split('\n').filter((line) => / \d+\.\d\d/.test(line) || line.includes('─'));
    for (const line of tableLines) expect(line.length).toBeLessThanOrEqual(110);
  });

  it('prints lines that add up to the total', () => {
    const { services, usd } = JSON.parse(run([...ASKED, '--json']).output);
    const sum = services.flatMap(({ lines }: { lines: { cost: number }[] }) =>
      lines.map((line) => line.cost),
    );

    expect(sum.reduce((all: number, each: number) => all + each, 0)).toBeCloseTo(usd, 6);
  });

  it('prints JSON with its input and the date of its prices', () => {
    expect(JSON.parse(run([...ASKED, '--json']).output)).toMatchObject({
      measured: MEASURED.date,
      workload: { deliveries: 10e6, messages: 10e6, failureRate: 0.02 },
      usd: expect.any(Number),
      perMillion: { firstTry: expect.any(Number), timedOutAttempt: expect.any(Number) },
    });
  });

  it('accepts a month without events', () => {
    const { output } = run(['--deliveries', '0']);

    expect(output).not.toMatch(/NaN|Infinity|undefined/);
  });

  it('prints the error and the help hint, and exits with 2', () => {
    expect(runCommandLine(() => run(['--failure-rate', 'often']))).toEqual({
      code: 2,
      output: '',
      errors:
        "error: option '--failure-rate <share>' argument 'often' is invalid. It takes a share from 0% to 100%, such as 2% or 0.02.\nFor the options: npm run cost -- --help\n",
    });
  });

  it('explains every option', () => {
    const { code, output } = runCommandLine(() => run(['--help']));

    expect(code).toBe(0);
    for (const option of ['deliveries', 'messages', 'reads', 'failure-rate', 'burst', 'json'])
      expect(output).toContain(`--${option}`);
  });

  const workloadOf = (...args: string[]) => JSON.parse(run([...args, '--json']).output).workload;

  it.each([
    ['10M', 10e6],
    ['2.5k', 2500],
    ['1G', 1e9],
    ['1_000', 1000],
    ['0', 0],
    ['.5m', 5e5],
  ])('reads %s as a number', (text, value) => {
    expect(workloadOf('--deliveries', text)).toMatchObject({ deliveries: value, messages: value });
  });

  it.each([
    ['2%', 0.02],
    ['0.02', 0.02],
    ['100%', 1],
  ])('reads %s as a share', (text, value) => {
    expect(workloadOf('--failure-rate', text).failureRate).toBeCloseTo(value, 12);
  });

  it.each([
    [['--deliveries', 'ten'], 'It takes a number, such as 500, 10k, 2.5M or 1G'],
    [['--deliveries=-5'], 'It takes a number'],
    [['--deliveries', '1e999'], 'It takes a number'],
    [['--failure-rate', '102%'], 'It takes a share from 0% to 100%, such as 2% or 0.02'],
    [['--failure-rate', ''], 'It takes a share'],
    [['--failure-rate', '60%', '--hanging-rate', '60%'], 'add up to more than 100%'],
    [['--color'], "unknown option '--color'"],
    [['10M'], 'too many arguments'],
  ])('refuses %j in one line', (args, message) => {
    expect(usageError(() => run(args))).toContain(message);
  });

  it('calculates with any value that it does not refuse', () => {
    const option = fc.constantFrom('--deliveries', '--messages', '--reads', '--failure-rate');
    fc.assert(
      fc.property(option, fc.string(), (name, value) => {
        const { result, code } = runCommandLine(() => run([`${name}=${value}`]).output);
        if (result === undefined) expect(code).toBe(2);
        else expect(result).not.toMatch(/NaN|Infinity|undefined/);
      }),
    );
  });
});
