import { describe, expect, it } from 'vitest';
import { ApiFailure } from '../../../dashboard/src/api/failures.ts';
import { faultsByField, kindOf } from '../../../dashboard/src/api/field-faults.ts';
import { isLimit } from '../../../dashboard/src/pages/endpoints/limit.ts';
import { MaxPerSecond } from '../../../functions/domain/endpoint-rate.ts';
import { checkReceiverUrl } from '../../../functions/domain/receiver-url.ts';

describe('a fault of a URL', () => {
  const policy = { loopback: 'refuse', blocks: (host: string) => host === 'blocked.example.com' } as const;

  it.each([
    ['http://example.com', 'https'],
    ['https://user:word@example.com', 'credentials'],
    ['https://example.com/#part', 'fragment'],
    ['https://10.0.0.1/internal', 'host'],
    ['https://localhost', 'host'],
    ['https://example.com:22', 'port'],
    ['https://example.com/a b', 'invisible'],
    ['https://example.com\\a', 'url'],
    ['https:///', 'url'],
    ['https://blocked.example.com', 'blocked'],
    [`https://example.com/${'x'.repeat(2100)}`, 'long'],
  ])('is known as the service says it: %s', (url, kind) => {
    const checked = checkReceiverUrl(url, policy);
    const message = checked.ok ? '' : checked.problem.replace(/^url /, '');
    expect(kindOf(message)?.kind).toBe(kind);
  });

  it('has the number of its sentence', () => {
    expect(kindOf('must be at most 2048 characters')).toEqual({ kind: 'long', limit: 2048 });
    expect(kindOf('must have at most 200 characters')).toEqual({ kind: 'long', limit: 200 });
    expect(kindOf('must be at most 1000')).toEqual({ kind: 'most', limit: 1000 });
    expect(kindOf('must be green')).toBeUndefined();
  });
});

describe('the faults of a request', () => {
  const details = [
    { field: 'events.0', message: 'must be one of a, b' },
    { field: 'url', message: 'must use https' },
    { field: 'url', message: 'is required' },
  ];
  const failure = new ApiFailure('', { status: 400, type: 'VALIDATION_ERROR', details });
  const said = ({ message }: { message: string }) => message.toUpperCase();

  it('are at their fields, the first of each', () => {
    expect(faultsByField(failure, ['url', 'events'], said)).toEqual({
      problems: { events: 'MUST BE ONE OF A, B', url: 'MUST USE HTTPS' },
      isWhole: true,
    });
  });

  it('are not all at fields when a form lacks one, or when there are none', () => {
    expect(faultsByField(failure, ['url'], said)).toMatchObject({ isWhole: false });
    const refusal = new ApiFailure('', { status: 409, type: 'CONFLICT' });
    for (const error of [refusal, new Error('x'), null])
      expect(faultsByField(error, ['url'], said)).toEqual({ problems: {}, isWhole: false });
  });
});

describe('the limit of an endpoint', () => {
  it.each(['', ' ', '1', '1000', '0', '1001', '1.5', '-1', '1e2', 'ten', '007'])(
    'is taken in the form where the service takes it: %j',
    (text) => {
      const isTaken =
        text.trim() === '' || (/^\d+$/.test(text) && MaxPerSecond.safeParse(Number(text)).success);
      expect(isLimit(text)).toBe(isTaken);
    },
  );
});
