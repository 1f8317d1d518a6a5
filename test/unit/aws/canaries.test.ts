import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { canary, leaks, linesWithCredentials } from '../../support/canaries.ts';

const secret = canary('a secret');
const around = fc.tuple(fc.string(), fc.string());

describe('leaks', () => {
  it.each([
    ['as it is', (text: string) => text],
    ['in JSON', (text: string) => JSON.stringify({ message: JSON.stringify({ text }) })],
    ['in a URL', (text: string) => encodeURIComponent(text.toWellFormed())],
    ['in base64', (text: string) => Buffer.from(text).toString('base64')],
    ['in the base64 of URLs', (text: string) => Buffer.from(text).toString('base64url')],
    ['in hexadecimal', (text: string) => Buffer.from(text).toString('hex')],
  ])('finds a canary %s', (_, encode) => {
    fc.assert(
      fc.property(around, ([before, after]) => {
        expect(leaks([secret], [encode(`${before}${secret.text}${after}`)])).toHaveLength(1);
      }),
    );
  });

  it('finds canaries with any characters, in a URL and in JSON', () => {
    const odd = { name: 'odd', text: 'ä"<\\ \n7f3a' };
    expect(leaks([odd], [encodeURIComponent(odd.text), JSON.stringify(odd.text)])).toHaveLength(2);
  });
});

it('leaks finds no canary in other text', () => {
  fc.assert(
    fc.property(fc.string(), (line) => {
      expect(leaks([secret], [line])).toEqual([]);
    }),
  );
});

describe('linesWithCredentials', () => {
  const credentials = ['ck_live_x3', 'ck_sandbox_x3', 'whsec_x3', 'cvt_x3', 'Bearer eyJx3'];

  it.each(credentials)('finds a credential like %s', (text) => {
    fc.assert(
      fc.property(around, ([before, after]) => {
        expect(linesWithCredentials([`${before}${text}${after}`])).toHaveLength(1);
      }),
    );
  });

  it('finds credentials in base64', () => {
    fc.assert(
      fc.property(fc.string(), (before) => {
        const line = Buffer.from(`${before}ck_live_0123456789`).toString('base64');
        expect(linesWithCredentials([line])).toHaveLength(1);
      }),
    );
  });

  it('finds none in log lines of the service', () => {
    const line = JSON.stringify({ keyId: 'key_01a1', deliveryId: 'dlv_01a1', error: { name: 'Error' } });
    expect(linesWithCredentials([line])).toEqual([]);
  });
});
