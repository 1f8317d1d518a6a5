import { describe, expect, it } from 'vitest';
import { readArguments } from '../../../src/command/arguments.ts';

const read = (...args: string[]) => readArguments(args, '/project');

describe('the arguments of aws-local', () => {
  it('name an assembly, beside which the state is kept', () => {
    expect(read('run', 'cdk.out')).toEqual({
      assembly: '/project/cdk.out',
      state: '/project/.aws-local',
      port: 3000,
      environment: {},
      verbose: false,
    });
  });

  it('may say port, state, variables and how much is shown', () => {
    const options = ['--port', '0', '--state', 's', '--env', 'A=1', '--env', 'B=x=y', '--verbose'];
    expect(read('run', '/a/cdk.out', ...options)).toEqual({
      assembly: '/a/cdk.out',
      state: '/project/s',
      port: 0,
      environment: { A: '1', B: 'x=y' },
      verbose: true,
    });
  });

  it.each([[], ['--help'], ['run', '--help']])('ask for help with %j', (...args) => {
    expect(readArguments(args.flat(), '/project')).toBe('help');
  });

  it.each([
    ['start', 'There is no command start'],
    ['run', 'Name one directory'],
    ['run a b', 'Name one directory'],
    ['run a --port http', '--port is http'],
    ['run a --port 65536', '--port is 65536'],
    ['run a --env NAME', '--env is NAME'],
    ['run a --fast', '--fast'],
  ])('are refused when they are %j', (line, message) => {
    expect(() => read(...line.split(' '))).toThrow(message);
  });
});
