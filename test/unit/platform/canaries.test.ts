import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { canary, leaks, linesWithCredentials } from '../../support/canaries.ts';

const secret = canary('a secret');
const around = fc.tuple(fc.string(), fc.string());

describe('a canary is found', () => {
  it.each([
    ['as it is', (text: string) => text],
    ['in JSON', (text: string) => JSON.stringify({ message: JSON.stringify({ text }) })],
    ['in a URL', (text: string) => encodeURIComponent(text.toWellFormed())],
    ['in base64', (text: string) => Buffer.from(text).toString('base64')],
    ['in the base64 of URLs', (text: string) => Buffer.from(text).toString('base64url')],
    ['in hexadecimal', (text: string) => Buffer.from(text).toString('hex')],
  ])('%s, whatever is around it', (_, encode) => {
    fc.assert(
      fc.property(around, ([before, after]) => {
        expect(leaks([secret], [encode(`${before}${secret.text}${after}`)])).toHaveLength(1);
      }),
    );
  });

  it('of all kinds of characters, in a URL and in JSON', () => {
    const odd = { name: 'odd', text: 'ä"<\\ \n7f3a' };
    expect(leaks([odd], [encodeURIComponent(odd.text), JSON.stringify(odd.text)])).toHaveLength(2);
  });
});

it('is not found where it is not', () => {
  fc.assert(
    fc.property(fc.string(), (line) => {
      expect(leaks([secret], [line])).toEqual([]);
    }),
  );
});

describe('a credential is found', () => {
  const credentials = ['ck_live_x3', 'ck_sandbox_x3', 'whsec_x3', 'cvt_x3', 'Bearer eyJx3'];

  it.each(credentials)('of the kind of %s, whatever is around it', (text) => {
    fc.assert(
      fc.property(around, ([before, after]) => {
        expect(linesWithCredentials([`${before}${text}${after}`])).toHaveLength(1);
      }),
    );
  });

  it('also in base64', () => {
    fc.assert(
      fc.property(fc.string(), (before) => {
        const line = Buffer.from(`${before}ck_live_0123456789`).toString('base64');
        expect(linesWithCredentials([line])).toHaveLength(1);
      }),
    );
  });

  it('in no line of ours', () => {
    const line = JSON.stringify({ keyId: 'key_01a1', deliveryId: 'dlv_01a1', error: { name: 'Error' } });
    expect(linesWithCredentials([line])).toEqual([]);
  });
});
