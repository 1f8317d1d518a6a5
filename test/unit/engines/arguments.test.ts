import { describe, expect, it } from 'vitest';
import { readArguments } from '../../engines/arguments.ts';

describe('the arguments of the run on other engines', () => {
  it('choose all engines by default', () => {
    expect(readArguments([])).toEqual({ help: false, engines: ['dynamodb-local', 'elasticmq', 'dynoxide'] });
  });

  it('choose some engines, each once and in their order', () => {
    const args = ['--only', 'dynoxide', '--only=dynamodb-local', '--only', 'dynoxide'];
    expect(readArguments(args).engines).toEqual(['dynamodb-local', 'dynoxide']);
  });

  it.each([
    [['--only', 'mysql'], '--only takes dynamodb-local, elasticmq, dynoxide, not "mysql"'],
    [['--fast'], "Unknown option '--fast'"],
  ])('refuse %j', (args, message) => {
    expect(() => readArguments(args)).toThrow(message);
  });
});
