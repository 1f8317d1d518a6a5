import { describe, expect, it } from 'vitest';
import { describeEngineError, reachEngine } from '../../src/engine-errors.ts';

const withCode = (code: string) => Object.assign(new Error(`connect ${code} 127.0.0.1:1`), { code });

describe('an engine that cannot be reached', () => {
  it('is named with its endpoint, and other errors pass unchanged', async () => {
    const reach = (error: Error) => reachEngine('SQS', 'http://localhost:1', () => Promise.reject(error));
    await expect(reach(withCode('ECONNREFUSED'))).rejects.toThrow(
      'SQS at http://localhost:1 cannot be reached: nothing listens there. Start the server, ' +
        'or check the host and port in the URL.',
    );
    const other = new RangeError('x');
    await expect(reach(other)).rejects.toBe(other);
  });

  it('is logged without its code', () => {
    expect(describeEngineError(withCode('ECONNRESET'))).not.toContain('ECONNRESET');
    expect(describeEngineError(new RangeError('x'))).toBe('RangeError: x');
  });
});
