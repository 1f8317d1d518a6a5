import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readArguments } from '../../../lib/cost/arguments.ts';
import { runCommandLine, usageError } from '../../support/command-line.ts';

const BODY_BYTES = 300;
const workloadOf = (...args: string[]) => readArguments(args, BODY_BYTES).workload;

describe('arguments of npm run cost', () => {
  it('are all optional', () => {
    expect(workloadOf()).toEqual({
      deliveries: 10e6,
      messages: 10e6,
      reads: 0,
      endpoints: 1,
      organizations: 1,
      failureRate: 0,
      hangingRate: 0,
      limitedRate: 0,
      waitingRate: 0,
      parkedRate: 0,
      bodySize: BODY_BYTES,
      textSize: 200,
      retentionDays: 30,
      receiverLatencyMs: 200,
      busyHours: 730 / 3,
    });
  });

  it.each([
    ['10M', 10e6],
    ['2.5k', 2500],
    ['1G', 1e9],
    ['1_000', 1000],
    ['0', 0],
    ['.5m', 5e5],
  ])('read %s as a number', (text, value) => {
    expect(workloadOf('--deliveries', text).deliveries).toBe(value);
  });

  it.each([
    ['2%', 0.02],
    ['0.02', 0.02],
    ['100%', 1],
    ['0%', 0],
  ])('read %s as a share', (text, value) => {
    expect(workloadOf('--failure-rate', text).failureRate).toBeCloseTo(value, 12);
  });

  it.each([
    ['--body-size', '2KB', 'bodySize', 2048],
    ['--body-size', '700', 'bodySize', 700],
    ['--text-size', '1.5KB', 'textSize', 1536],
    ['--receiver-latency', '1.5s', 'receiverLatencyMs', 1500],
    ['--receiver-latency', '80ms', 'receiverLatencyMs', 80],
    ['--busy-hours', '730', 'busyHours', 730],
    ['--batch', '10', 'batch', 10],
  ] as const)('accept %s %s', (option, text, name, value) => {
    expect(workloadOf(option, text)[name]).toBe(value);
  });

  it('assume an organization for each endpoint, and an event for each delivery', () => {
    expect(workloadOf('--deliveries', '1M', '--endpoints', '500')).toMatchObject({
      organizations: 500,
      messages: 1e6,
    });
  });

  it('assume one event for all endpoints of an organization', () => {
    expect(workloadOf('--deliveries', '1M', '--endpoints', '500', '--organizations', '100').messages).toBe(
      200_000,
    );
  });

  it.each([
    [
      ['--deliveries', 'ten'],
      "option '--deliveries <n>' argument 'ten' is invalid. It takes a number of at least 0, such as 500, 10k, 2.5M or 1G.",
    ],
    [
      ['--deliveries=-5'],
      "option '--deliveries <n>' argument '-5' is invalid. It takes a number of at least 0, such as 500, 10k, 2.5M or 1G.",
    ],
    [['--deliveries', '1e999'], 'It takes a number'],
    [['--endpoints', '0'], 'It takes a number of at least 1'],
    [
      ['--failure-rate', '102%'],
      "option '--failure-rate <share>' argument '102%' is invalid. It takes a share from 0% to 100%, such as 2% or 0.02.",
    ],
    [['--failure-rate', '2'], 'It takes a share'],
    [['--failure-rate', ''], 'It takes a share'],
    [['--body-size', '1GB'], 'It takes a size from 1 B to 256 KB'],
    [['--body-size', '0'], 'It takes a size'],
    [['--receiver-latency', '20s'], 'It takes a time up to 10s'],
    [['--receiver-latency', '200'], 'It takes a time'],
    [['--busy-hours', '900'], 'It takes a number of hours from 1 to 730'],
    [['--batch', '0'], 'It takes a number of at least 1'],
    [['--messages', '0'], '--messages must be more than 0 where there are deliveries'],
    [['--color'], "unknown option '--color'"],
    [['10M'], 'too many arguments'],
  ])('are refused in one line: %j', (args, message) => {
    expect(usageError(() => readArguments(args, BODY_BYTES))).toContain(message);
  });

  it('are always a workload or a readable error', () => {
    const option = fc.constantFrom('--deliveries', '--endpoints', '--failure-rate', '--body-size', '--batch');
    fc.assert(
      fc.property(option, fc.string(), (name, value) => {
        const { result, code } = runCommandLine(() => readArguments([`${name}=${value}`], BODY_BYTES));
        if (result === undefined) expect(code).toBe(2);
        else for (const number of Object.values(result.workload)) expect(Number.isFinite(number)).toBe(true);
      }),
    );
  });
});
