import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ANY, fingerprintOf, messageIn } from '../../../dashboard/src/pages/failures/fingerprint.ts';

const word = fc.constantFrom(
  'tenant',
  'unknown',
  'for',
  'order',
  'at',
  'Überweisung',
  '未知',
  'E1001',
  '(id)',
);
const hex = (length: number) =>
  fc.string({ unit: fc.constantFrom(...'0123456789abcdef'), minLength: length, maxLength: length });
/** What differs from one message of a cause to the next. */
const variable = fc.oneof(
  fc.nat().map(String),
  fc.double({ noNaN: true, noDefaultInfinity: true, min: 0, max: 1e6 }).map((value) => value.toFixed(2)),
  fc.uuid(),
  fc
    .date({ min: new Date(0), max: new Date('2100-01-01'), noInvalidDate: true })
    .map((date) => date.toISOString()),
  hex(32).map((id) => `evt_${id}1`),
  hex(8).map((id) => `usr-${id}2`),
);

describe('the fingerprint of a message', () => {
  it('is the same for messages that differ in numbers, identifiers and times', () => {
    fc.assert(
      fc.property(
        fc.array(fc.option(word, { nil: undefined }), { minLength: 1, maxLength: 10 }),
        fc.infiniteStream(variable),
        fc.infiniteStream(variable),
        (template, first, second) => {
          const written = (values: Iterator<string>) =>
            template.map((part) => part ?? values.next().value).join(' ');
          expect(fingerprintOf(written(first))).toBe(fingerprintOf(written(second)));
        },
      ),
    );
  });

  it('differs where a word differs', () => {
    fc.assert(
      fc.property(fc.array(word, { maxLength: 5 }), word, word, (before, first, second) => {
        fc.pre(first !== second);
        expect(fingerprintOf([...before, first].join(' '))).not.toBe(
          fingerprintOf([...before, second].join(' ')),
        );
      }),
    );
  });

  it('is the fingerprint of itself, of bounded length, on one line', () => {
    const piece = fc.oneof(word, variable, fc.string({ unit: 'binary', maxLength: 60 }));
    fc.assert(
      fc.property(
        fc.array(piece, { maxLength: 40 }),
        fc.constantFrom(' ', '', '\n', ':', '_'),
        (parts, by) => {
          const print = fingerprintOf(parts.join(by));
          expect(fingerprintOf(print)).toBe(print);
          expect(print.length).toBeLessThanOrEqual(160);
          expect(print).not.toMatch(/[\r\n\t]/);
          expect(print.isWellFormed()).toBe(true);
        },
      ),
      { numRuns: 500 },
    );
  });

  it.each([
    ['tenant 42 unknown', 'tenant # unknown'],
    ['tenant org_019e8232600070b8 unknown', 'tenant # unknown'],
    ['order-7 is not found', 'order-# is not found'],
    ['E1001: out of stock', 'E1001: out of stock'],
    ['timed out after 10,000.5 ms', 'timed out after # ms'],
    ['connect ECONNREFUSED 10.0.0.7:443', 'connect ECONNREFUSED #'],
    ['at 2026-11-20 09:30:00+01:00', 'at #'],
    ['', ''],
  ])('of %j is %j', (message, print) => {
    expect(fingerprintOf(message)).toBe(print);
    expect(ANY).toBe('#');
  });
});

describe('the message in a response', () => {
  it.each([
    ['tenant unknown', 'tenant unknown'],
    ['{"error":{"code":7,"message":"tenant unknown"}}', 'tenant unknown'],
    ['{"errors":[{"detail":"tenant unknown"}]}', 'tenant unknown'],
    ['{"error":"tenant unknown"}', 'tenant unknown'],
    ['{"message":"tenant unknown","stack":"at', 'tenant unknown'],
    ['{"ok":false}', '{"ok":false}'],
    ['<!doctype html><html><head><title>502 Bad Gateway</title>', '502 Bad Gateway'],
    ['<html><body><p>Down for <b>maintenance', 'Down for  maintenance'],
    ['  ', ''],
  ])('%j is %j', (response, message) => {
    expect(messageIn(response)).toBe(message);
  });

  it('is a text for any response', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.json(),
          fc.json().map((text) => text.slice(0, 9)),
        ),
        (response) => {
          expect(typeof messageIn(response)).toBe('string');
        },
      ),
    );
  });
});
