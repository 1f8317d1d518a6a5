import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ApiFailure, faultsByField } from '../../../dashboard/src/api/failures.ts';
import { chosenScopes, isInUse, SCOPES, type Scope } from '../../../dashboard/src/pages/api-keys/scopes.ts';
import { isLimit } from '../../../dashboard/src/pages/endpoints/limit.ts';
import { percentFrom } from '../../../dashboard/src/pages/settings/percent.ts';
import { csvOf } from '../../../dashboard/src/pages/usage/csv.ts';
import { MaxPerSecond } from '../../../functions/receivers/endpoint.ts';
import { checkReceiverUrl } from '../../../functions/receivers/receiver-url.ts';
import { hasScope, Scope as ServiceScope } from '../../../functions/tenancy/api-keys.ts';
import { Percentage } from '../../../functions/tenancy/tenant.ts';

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

describe('the scopes of a key', () => {
  it('are those of the service', () => {
    expect([...SCOPES].sort()).toEqual([...ServiceScope.options].sort());
  });

  it('show reading beside the writing that implies it', () => {
    expect(chosenScopes([], ['write:webhooks'])).toEqual(['read:webhooks', 'write:webhooks']);
  });

  it('lose writing with reading', () => {
    const before: Scope[] = ['read:webhooks', 'write:webhooks', 'read:knowledge'];
    expect(chosenScopes(before, ['write:webhooks', 'read:knowledge'])).toEqual(['read:knowledge']);
  });

  it('are exactly the permissions of the key, after any clicks', () => {
    const presses = fc.array(fc.constantFrom(...SCOPES), { maxLength: 12 });
    fc.assert(
      fc.property(presses, (pressed) => {
        let chosen: Scope[] = [];
        for (const scope of pressed) {
          const after = chosen.includes(scope) ? chosen.filter((each) => each !== scope) : [...chosen, scope];
          const wasChosen = chosen.includes(scope);
          chosen = chosenScopes(chosen, after);
          expect(chosen.includes(scope)).toBe(!wasChosen);
        }
        expect(SCOPES.filter((scope) => hasScope(chosen, scope))).toEqual(chosen);
      }),
    );
  });
});

describe('a key', () => {
  const now = Date.parse('2026-11-20T12:00:00Z');

  it.each([
    [null, false],
    ['2026-11-20T11:55:00Z', true],
    ['2026-11-19T12:00:01Z', true],
    ['2026-11-19T12:00:00Z', false],
  ])('last used at %s is in use: %s', (lastUsedAt, expected) => {
    expect(isInUse(lastUsedAt, now)).toBe(expected);
  });
});

describe('a typed percentage', () => {
  it.each([
    ['0', 0],
    ['20', 20],
    ['12.5', 12.5],
    ['12,25', 12.25],
    [' 100 ', 100],
    ['100.01', undefined],
    ['12.345', undefined],
    ['-1', undefined],
    ['1e1', undefined],
    ['', undefined],
    ['twenty', undefined],
  ])('%j is %j', (text, percent) => {
    expect(percentFrom(text)).toBe(percent);
  });

  it('is one that the service accepts', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(...'0123456789.,'), maxLength: 7 }), (text) => {
        const percent = percentFrom(text);
        if (percent !== undefined) expect(Percentage.safeParse(percent).success).toBe(true);
      }),
    );
  });
});

describe('comma-separated values', () => {
  it('quote text that would be parsed as something else', () => {
    expect(
      csvOf([
        ['Month', 'a,b', 'say "x"', 'two\nlines'],
        [2026, 1],
      ]),
    ).toBe('Month,"a,b","say ""x""","two\nlines"\r\n2026,1\r\n');
  });
});
