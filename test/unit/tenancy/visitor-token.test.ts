import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { newId } from '../../../functions/aws/ids.ts';
import { createSeal, sealCursor } from '../../../functions/aws/keyrings.ts';
import {
  createVisitorToken,
  openVisitorToken,
  parseBearerVisitorToken,
  type Visit,
} from '../../../functions/tenancy/visitor-token.ts';
import { aKeyring, later, NOW, seconds } from '../../builders.ts';
import { flipped, idsOf, texts } from '../aws/arbitraries.ts';

const ring = aKeyring({ versions: 2 });
const expiresAt = later(NOW, seconds(900)).toISOString();

const visits: fc.Arbitrary<Visit> = fc.record({
  orgId: idsOf('org'),
  generation: fc.nat(),
  conversationId: idsOf('cnv'),
  expiresAt: fc.constant(expiresAt),
});
const aVisit = (changes: Partial<Visit> = {}): Visit => ({
  orgId: newId('org', NOW),
  generation: 0,
  conversationId: newId('cnv', NOW),
  expiresAt,
  ...changes,
});
const createToken = (visit: Visit, keys = ring) => createVisitorToken(keys, visit, createSeal(keys));

describe('visitor token', () => {
  it('does not open when any bit or character of it was changed', () => {
    const token = createToken(aVisit());
    const sealed = token.slice('cvt_'.length);
    for (let bit = 0; bit < Buffer.from(sealed, 'base64url').length * 8; bit += 1)
      expect(openVisitorToken(ring, `cvt_${flipped(sealed, bit)}`, NOW), `bit ${bit}`).toBeUndefined();
    fc.assert(
      fc.property(fc.nat(), fc.constantFrom(...'ABCabc019-_'), fc.string(), (at, character, tail) => {
        const index = at % token.length;
        for (const changed of [
          token.slice(0, index) + character + token.slice(index + 1),
          token.slice(0, index),
          token + (tail || 'A'),
        ])
          if (changed !== token) expect(openVisitorToken(ring, changed, NOW)).toBeUndefined();
      }),
    );
  });

  it('cannot be combined from those of other tenants and conversations', () => {
    fc.assert(
      fc.property(visits, visits, fc.nat(), (visit, otherVisit, at) => {
        const [first, second] = [createToken(visit), createToken(otherVisit)];
        const index = 5 + (at % (Math.min(first.length, second.length) - 6));
        const mixed = first.slice(0, index) + second.slice(index);
        fc.pre(mixed !== first && mixed !== second);
        expect(openVisitorToken(ring, mixed, NOW)).toBeUndefined();
      }),
    );
  });

  it('is valid exactly until it expires', () => {
    fc.assert(
      fc.property(fc.integer({ min: -2_000_000, max: 2_000_000 }), (ms) => {
        const visit = aVisit();
        const at = later(new Date(expiresAt), ms);
        expect(openVisitorToken(ring, createToken(visit), at)).toEqual(ms < 0 ? visit : undefined);
      }),
    );
  });

  it('is the same for the same seal, and differs for another', () => {
    const visit = aVisit();
    const seal = createSeal(ring);
    expect(createVisitorToken(ring, visit, seal)).toBe(createVisitorToken(ring, visit, seal));
    expect(createVisitorToken(ring, visit, createSeal(ring))).not.toBe(createVisitorToken(ring, visit, seal));
    // A newer key does not change a sealed token.
    expect(createVisitorToken(aKeyring({ versions: 3 }), visit, seal)).toBe(
      createVisitorToken(ring, visit, seal),
    );
  });

  it('reveals nothing of its content', () => {
    const visit = aVisit();
    const bytes = Buffer.from(createToken(visit).slice('cvt_'.length), 'base64url').toString('latin1');
    for (const part of [visit.orgId, visit.conversationId, '2026']) expect(bytes).not.toContain(part);
  });

  it('does not open with another key', () => {
    expect(
      openVisitorToken(aKeyring({ versions: 2, fill: 'm' }), createToken(aVisit()), NOW),
    ).toBeUndefined();
    expect(openVisitorToken(aKeyring({ versions: 1 }), createToken(aVisit()), NOW)).toBeUndefined();
  });

  it('is different from a cursor with the same content', () => {
    const cursor = sealCursor(ring, JSON.stringify(aVisit()), { tenant: '', route: '', filters: [] });
    expect(openVisitorToken(ring, `cvt_${cursor}`, NOW)).toBeUndefined();
  });

  it('rejects any other text without an error', () => {
    fc.assert(
      fc.property(fc.oneof(texts, fc.base64String()), (text) => {
        expect(openVisitorToken(ring, text, NOW)).toBeUndefined();
        expect(openVisitorToken(ring, `cvt_${text}`, NOW)).toBeUndefined();
      }),
      { numRuns: 500 },
    );
  });
});

describe('visitor token header', () => {
  it.each([
    ['Bearer cvt_abc', 'cvt_abc'],
    ['bearer   cvt_abc', 'cvt_abc'],
    [undefined, undefined],
    ['cvt_abc', undefined],
    ['Basic cvt_abc', undefined],
    ['Bearer ck_live_abc', undefined],
    ['Bearer cvt_a b', undefined],
    ['Bearer cvt_', undefined],
  ])('%s has the token %s', (header, token) => {
    expect(parseBearerVisitorToken(header)).toBe(token);
  });
});
