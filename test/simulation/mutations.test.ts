import { describe, expect, it } from 'vitest';
import { applyMutation } from './mutations/load-mutated.ts';
import { MUTATIONS } from './mutations/mutations.ts';
import { HARMFUL_ALONE, HARMLESS_ALONE } from './mutations/versions.ts';

describe('the mutations', () => {
  it('change a text that occurs once in its file, so that the deep tests can run them', () => {
    const faults = [...MUTATIONS, ...HARMFUL_ALONE, ...HARMLESS_ALONE].flatMap((mutation) => {
      try {
        applyMutation(mutation);
        return [];
      } catch (error) {
        return [`${mutation.name}: ${String(error)}`];
      }
    });
    expect(faults).toEqual([]);
  });

  it('are refused when their text is gone', () => {
    const gone = {
      name: 'gone',
      file: 'functions/domain/gate.ts',
      find: 'no such text',
      replace: '',
      breaks: [],
    };
    expect(() => applyMutation(gone)).toThrow('occurs 0 times');
  });
});
