import { describe, expect, it } from 'vitest';
import { applyMutation, findUnknownNames } from './mutations/load-mutated.ts';
import { MUTATIONS } from './mutations/mutations.ts';

describe('the mutations', () => {
  it('change a text that occurs once in its file, so that the deep tests can run them', () => {
    const faults = MUTATIONS.flatMap((mutation) => {
      try {
        applyMutation(mutation);
        return [];
      } catch (error) {
        return [`${mutation.name}: ${String(error)}`];
      }
    });
    expect(faults).toEqual([]);
  });

  it('use only names of their files, so that they break a promise and not the compilation', () => {
    const unknown = MUTATIONS.flatMap((mutation) =>
      findUnknownNames(mutation).map((name) => `${mutation.name}: ${name}`),
    );
    expect(unknown).toEqual([]);
  });

  it('are reported for an unknown name', () => {
    const renamed = {
      name: 'renamed',
      file: 'functions/tenancy/gate.ts',
      find: 'export function gate(',
      replace: 'if (goneName) throw new Error(); export function gate(',
      breaks: [],
    };
    expect(findUnknownNames(renamed)).toEqual(['goneName']);
  });

  it('are refused when their text does not occur', () => {
    const gone = {
      name: 'gone',
      file: 'functions/tenancy/gate.ts',
      find: 'no such text',
      replace: '',
      breaks: [],
    };
    expect(() => applyMutation(gone)).toThrow('occurs 0 times');
  });
});
