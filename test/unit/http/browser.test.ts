import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseCookie } from '../../../functions/http/authentication.ts';

type Event = Parameters<typeof parseCookie>[0];
const request = (cookie: string) => ({ headers: { Cookie: cookie } }) as unknown as Event;

/** The characters of a cookie's value (RFC 6265bis, 4.1.1). */
const aValue = fc.stringMatching(/^[\x21\x23-\x2b\x2d-\x3a\x3c-\x5b\x5d-\x7e]+$/);

describe('a cookie', () => {
  it('has the value that the browser sent, equals signs included', () => {
    fc.assert(
      fc.property(aValue, aValue, (value, other) => {
        expect(parseCookie(request(`a=${other}; wanted=${value}; b=${other}`), 'wanted')).toBe(value);
      }),
    );
  });

  it.each([
    ['none', 'other=1'],
    ['no value', 'wanted='],
    ['two of the name', 'wanted=1; wanted=2'],
    ['a name that only ends like it', 'unwanted=1'],
    ['nothing but the name', 'wanted'],
  ])('is absent where there is %s', (_, cookies) => {
    expect(parseCookie(request(cookies), 'wanted')).toBeUndefined();
  });
});
