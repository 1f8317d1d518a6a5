import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { newId } from '../../../functions/aws/ids.ts';
import { type CursorBinding, openCursor, sealCursor } from '../../../functions/aws/sealing.ts';
import { aKeyring, NOW } from '../../builders.ts';
import { idsOf, texts } from './arbitraries.ts';

const ring = aKeyring({ versions: 2 });
const binding: CursorBinding = { tenant: 'org_1#0', route: 'list-deliveries', filters: ['whk_1'] };

const bindings: fc.Arbitrary<CursorBinding> = fc.record({
  tenant: fc.string(),
  route: fc.string(),
  filters: fc.array(fc.string(), { maxLength: 3 }),
});

/** The cursor with one bit of its bytes flipped. */
function flipped(cursor: string, bit: number): string {
  const bytes = Buffer.from(cursor, 'base64url');
  const at = bit % (bytes.length * 8);
  bytes.writeUInt8(bytes.readUInt8(at >> 3) ^ (1 << (at & 7)), at >> 3);
  return bytes.toString('base64url');
}

const BASE64URL = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';

/** Changes of a cursor's text and bytes. */
const mutations: fc.Arbitrary<(cursor: string) => string> = fc.oneof(
  fc.nat().map((bit) => (cursor: string) => flipped(cursor, bit)),
  fc.nat().map((length) => (cursor: string) => cursor.slice(0, length % cursor.length)),
  fc.nat().map((start) => (cursor: string) => cursor.slice(1 + (start % cursor.length))),
  fc.string({ minLength: 1 }).map((tail) => (cursor: string) => cursor + tail),
  fc.string({ minLength: 1 }).map((head) => (cursor: string) => head + cursor),
  fc.tuple(fc.nat(), fc.constantFrom(...BASE64URL)).map(([at, letter]) => (cursor: string) => {
    const index = at % cursor.length;
    return cursor.slice(0, index) + letter + cursor.slice(index + 1);
  }),
  fc.constantFrom('=', ' ', '\n', '.').map((ignored) => (cursor: string) => `${cursor}${ignored}`),
  fc.constant((cursor: string) => cursor.replaceAll('-', '+').replaceAll('_', '/')),
  fc.constant((cursor: string) => cursor.toLowerCase()),
  fc.constant((cursor: string) => cursor.repeat(2)),
);

describe('cursor', () => {
  it('opens to the sealed position', () => {
    fc.assert(
      fc.property(idsOf('dlv'), bindings, (position, bound) => {
        expect(openCursor(ring, sealCursor(ring, position, bound), bound)).toBe(position);
      }),
    );
  });

  it('is base64url', () => {
    fc.assert(
      fc.property(idsOf('cnv'), (position) => {
        expect(sealCursor(ring, position, binding)).toMatch(/^[A-Za-z0-9_-]+$/);
      }),
    );
  });

  it('reveals nothing of its position, and differs each time', () => {
    const position = newId('dlv', NOW);
    const cursors = Array.from({ length: 100 }, () => sealCursor(ring, position, binding));
    expect(new Set(cursors).size).toBe(cursors.length);
    for (const cursor of cursors)
      expect(Buffer.from(cursor, 'base64url').includes(position.slice(0, 8))).toBe(false);
  });

  it('opens with its own key after a rotation', () => {
    const position = newId('msg', NOW);
    const before = sealCursor(aKeyring({ versions: 1 }), position, binding);
    expect(openCursor(aKeyring({ versions: 3 }), before, binding)).toBe(position);
  });

  it('does not open after any change', () => {
    fc.assert(
      fc.property(idsOf('dlv'), mutations, (position, mutate) => {
        const cursor = sealCursor(ring, position, binding);
        const mutated = mutate(cursor);
        fc.pre(mutated !== cursor);
        expect(openCursor(ring, mutated, binding)).toBeUndefined();
      }),
      { numRuns: 2_000 },
    );
  });

  it('does not open for another tenant, route, filter or number of filters', () => {
    fc.assert(
      fc.property(idsOf('dlv'), bindings, bindings, (position, bound, other) => {
        fc.pre(JSON.stringify(bound) !== JSON.stringify(other));
        expect(openCursor(ring, sealCursor(ring, position, bound), other)).toBeUndefined();
      }),
    );
  });

  it.each<[string, Partial<CursorBinding>]>([
    ['tenant', { tenant: 'org_2#0' }],
    ['generation', { tenant: 'org_1#1' }],
    ['route', { route: 'list-webhooks' }],
    ['filter', { filters: ['whk_2'] }],
    ['further filter', { filters: ['whk_1', 'x'] }],
    ['filter less', { filters: [] }],
    ['border between route and filter', { route: 'list-deliveries,whk_1', filters: [] }],
  ])('does not open for another %s', (_, change) => {
    const cursor = sealCursor(ring, newId('dlv', NOW), binding);
    expect(openCursor(ring, cursor, { ...binding, ...change })).toBeUndefined();
  });

  it('does not open with another key, nor without its key', () => {
    const cursor = sealCursor(ring, newId('dlv', NOW), binding);
    expect(openCursor(aKeyring({ versions: 2, fill: 'm' }), cursor, binding)).toBeUndefined();
    expect(openCursor(aKeyring({ versions: 1 }), cursor, binding)).toBeUndefined();
  });

  it('rejects any other text without an error', () => {
    const bytes = fc.uint8Array({ maxLength: 80 }).map((text) => Buffer.from(text).toString('base64url'));
    fc.assert(
      fc.property(fc.oneof(texts, fc.base64String(), bytes), (text) => {
        expect(openCursor(ring, text, binding)).toBeUndefined();
      }),
      { numRuns: 1_000 },
    );
  });
});
