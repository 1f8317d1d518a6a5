import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { readArguments } from '../../../src/command/arguments.ts';

const read = (...args: string[]) => readArguments(args, '/project');

describe('the arguments of aws-local', () => {
  it('name an assembly, beside which the state is stored', () => {
    expect(read('run', 'cdk.out')).toEqual({
      assembly: '/project/cdk.out',
      state: '/project/.aws-local',
      port: 3000,
      environment: {},
      verbose: false,
    });
  });

  it('may set port, state, variables and the level of detail', () => {
    const options = ['--port', '0', '--state', 's', '--env', 'A=1', '--env', 'B=x=y', '--verbose'];
    expect(read('run', '/a/cdk.out', ...options)).toEqual({
      assembly: '/a/cdk.out',
      state: '/project/s',
      port: 0,
      environment: { A: '1', B: 'x=y' },
      verbose: true,
    });
  });
});

describe('the exit of aws-local', () => {
  let printed: Record<'stdout' | 'stderr', string>;
  beforeEach(() => {
    printed = { stdout: '', stderr: '' };
    for (const name of ['stdout', 'stderr'] as const)
      vi.spyOn(process[name], 'write').mockImplementation((text) => {
        printed[name] += text;
        return true;
      });
    vi.spyOn(process, 'exit').mockImplementation((code) => {
      throw new Error(`exit ${code}`);
    });
  });
  afterEach(() => vi.restoreAllMocks());

  it.each([[[]], [['--help']], [['run', '--help']]])('follows the help for %j', (args) => {
    expect(() => read(...args)).toThrow('exit 0');
    expect(printed).toEqual({ stdout: expect.stringContaining('--state <directory>'), stderr: '' });
  });

  it.each([
    ['start', "unknown command 'start'"],
    ['run', "missing required argument 'assembly'"],
    ['run a b', 'too many arguments'],
    ['run a --port http', "'--port <n>' argument 'http' is invalid"],
    ['run a --port 65536', "'--port <n>' argument '65536' is invalid"],
    ['run a --env NAME', "'--env <name=value>' argument 'NAME' is invalid"],
    ['run a --state --verbose', "'--state <directory>' argument '--verbose' is invalid"],
    ['run a --fast', '--fast'],
  ])('follows two lines for %j', (line, message) => {
    expect(() => read(...line.split(' '))).toThrow('exit 2');
    expect(printed.stdout).toBe('');
    expect(printed.stderr.split('\n')).toEqual([
      expect.stringContaining(message),
      'For the options: aws-local run --help',
      '',
    ]);
  });
});
