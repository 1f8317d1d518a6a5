import { describe, expect, it } from 'vitest';
import {
  addInvocation,
  formatLineage,
  type Lineage,
  mergeLineages,
  parseLineage,
} from '../../../src/functions/lineage.ts';

const counts = (lineage: Lineage) => Object.fromEntries(lineage);

describe('the lineage of a chain of messages', () => {
  it.each([
    [undefined, {}],
    ['Root=1-5759e988-bd862e3fe1be46a994272793;Sampled=0', {}],
    ['Root=1-2;Parent=3;Sampled=0;Lineage=fn-a:2|fn-b:16', { 'fn-a': 2, 'fn-b': 16 }],
    // Written by Lambda itself, or without a count of a function here.
    ['Root=1-2;Lineage=;Sampled=0', {}],
    ['Root=1-2;Lineage=nonsense', {}],
  ])('is parsed from the trace header %s', (header, expected) => {
    expect(counts(parseLineage(header))).toEqual(expected);
  });

  it('counts an invocation, and is written as it is read', () => {
    const once = addInvocation(new Map([['b', 3]]), 'a');
    const twice = addInvocation(once, 'a');
    expect(counts(twice)).toEqual({ a: 2, b: 3 });
    expect(parseLineage(`Root=1-2;Sampled=0${formatLineage(twice)}`)).toEqual(twice);
    expect(formatLineage(new Map())).toBe('');
  });

  it('is the longest of each function where messages of several chains are in one batch', () => {
    const merged = mergeLineages([parseLineage('Lineage=a:1|b:5'), parseLineage('Lineage=a:4'), new Map()]);
    expect(counts(merged)).toEqual({ a: 4, b: 5 });
  });
});
