import { describe, expect, it } from 'vitest';
import { LocalRunError } from '../../../src/errors.ts';
import { compileFilters } from '../../../src/sources/filter.ts';

const passes = (pattern: unknown, event: unknown) => compileFilters([JSON.stringify(pattern)])(event);

const insert = {
  eventName: 'INSERT',
  dynamodb: { NewImage: { kind: { S: 'outbox' }, size: { N: '12' } }, tags: ['a', 'b'] },
};

describe('an event filter', () => {
  it.each([
    [{ eventName: ['INSERT'] }, true],
    [{ eventName: ['REMOVE', 'MODIFY'] }, false],
    [{ eventName: ['INSERT'], dynamodb: { NewImage: { kind: { S: ['outbox'] } } } }, true],
    [{ eventName: ['INSERT'], dynamodb: { NewImage: { kind: { S: ['other'] } } } }, false],
    [{ dynamodb: { OldImage: [{ exists: false }] } }, true],
    [{ dynamodb: { NewImage: { kind: { S: [{ exists: true }] } } } }, true],
    [{ dynamodb: { NewImage: { missing: { S: [{ exists: true }] } } } }, false],
    [{ eventName: [{ prefix: 'INS' }] }, true],
    [{ eventName: [{ suffix: 'ERT' }] }, true],
    [{ eventName: [{ prefix: 'ins' }] }, false],
    [{ eventName: [{ 'equals-ignore-case': 'insert' }] }, true],
    [{ eventName: [{ 'anything-but': ['REMOVE'] }] }, true],
    [{ eventName: [{ 'anything-but': 'INSERT' }] }, false],
    [{ eventName: [{ 'anything-but': { prefix: 'INS' } }] }, false],
    [{ missing: [{ 'anything-but': ['x'] }] }, false],
    [{ dynamodb: { NewImage: { size: { N: [{ numeric: ['=', 12] }] } } } }, true],
    [{ dynamodb: { NewImage: { size: { N: [{ numeric: ['>', 0, '<', 12] }] } } } }, false],
    [{ dynamodb: { NewImage: { size: { N: [{ numeric: ['>=', 12, '<=', 12] }] } } } }, true],
    [{ dynamodb: { tags: ['b'] } }, true],
    [{ dynamodb: { tags: ['c'] } }, false],
    [{ missing: [null] }, false],
  ])('passes, with %j, a record: %s', (pattern, expected) => {
    expect(passes(pattern, insert)).toBe(expected);
  });

  it('passes what one of several patterns matches, and everything without any', () => {
    const either = compileFilters(['{"a":[1]}', '{"a":[2]}']);
    expect([1, 2, 3].map((a) => either({ a }))).toEqual([true, true, false]);
    expect(compileFilters([])({ anything: 1 })).toBe(true);
  });

  it('matches null only with null', () => {
    expect(passes({ a: [null] }, { a: null })).toBe(true);
    expect(passes({ a: [null] }, { a: '' })).toBe(false);
  });

  it.each([
    { a: [{ cidr: '10.0.0.0/8' }] },
    { $or: [{ a: [1] }, { b: [1] }] },
    { a: 'not a list' },
    { a: [{ numeric: ['>'] }] },
    { a: [{ prefix: 'x', suffix: 'y' }] },
  ])('refuses %j by name', (pattern) => {
    expect(() => compileFilters([JSON.stringify(pattern)])).toThrow(LocalRunError);
  });
});
