import { describe, expect, it } from 'vitest';
import { familyOf, parseStat } from '../../bench/measure/processor-time.ts';

describe('the processor times of a process', () => {
  it('are parsed after a process name with any characters', () => {
    const fields = 'S 41 42 42 0 -1 4194304 100 0 0 0 150 50 30 20 20 0 11 0 12345';

    expect(parseStat(43, `43 (node (x) 7 8) ${fields}`)).toEqual({
      pid: 43,
      parent: 41,
      cpuMs: 2000,
      endedChildrenMs: 500,
    });
  });
});

describe('the process tree', () => {
  it('contains a process and its descendants only', () => {
    const all = [
      { pid: 5, parent: 3 },
      { pid: 2, parent: 1 },
      { pid: 3, parent: 2 },
      { pid: 4, parent: 1 },
    ];

    expect(familyOf(2, all).map(({ pid }) => pid)).toEqual([2, 3, 5]);
    expect(familyOf(9, all)).toEqual([]);
  });
});
