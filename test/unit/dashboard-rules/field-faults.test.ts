import { describe, expect, it } from 'vitest';
import { ApiFailure, faultsByField } from '../../../dashboard/src/api/failures.ts';
import { isLimit } from '../../../dashboard/src/pages/endpoints/limit.ts';
import { MaxPerSecond } from '../../../functions/receivers/endpoint.ts';
import { checkReceiverUrl } from '../../../functions/receivers/receiver-url.ts';

describe('the code of a URL that is refused', () => {
  const policy = { loopback: 'refuse', blocks: (host: string) => host === 'blocked.example.com' } as const;

  it.each([
    ['http://example.com', 'url_scheme'],
    ['https://user:word@example.com', 'url_credentials'],
    ['https://example.com/#part', 'url_fragment'],
    ['https://10.0.0.1/internal', 'url_host'],
    ['https://localhost', 'url_host'],
    ['https://example.com:22', 'url_port'],
    ['https://example.com/a b', 'invalid_characters'],
    ['https://example.com\\a', 'invalid_format'],
    ['https:///', 'invalid_format'],
    ['https://blocked.example.com', 'url_blocked'],
    [`https://example.com/${'x'.repeat(2100)}`, 'too_long'],
  ])('of %s is %s', (url, code) => {
    expect(checkReceiverUrl(url, policy)).toMatchObject({ ok: false, code });
  });
});

describe('the faults of a request', () => {
  const details = [
    { field: 'events.0', code: 'not_allowed', message: 'must be one of a, b' },
    { field: 'url', code: 'url_scheme', message: 'must use https' },
    { field: 'url', code: 'required', message: 'is required' },
    { field: 'filter.roles.1', code: 'not_allowed', message: 'must be a role' },
  ];
  const failure = new ApiFailure('', { status: 400, type: 'VALIDATION_ERROR', details });
  const said = ({ message }: { message: string }) => message.toUpperCase();

  it('are at their fields, the first of each', () => {
    expect(faultsByField(failure, ['url', 'events', 'filter.roles'], said)).toEqual({
      problems: {
        ...{ events: 'MUST BE ONE OF A, B', url: 'MUST USE HTTPS', 'filter.roles': 'MUST BE A ROLE' },
      },
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
