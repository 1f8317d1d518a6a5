import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { versions } from './versions.ts';

const PREVIOUS = join(import.meta.dirname, 'previous');

/** Parts that the previous version does not have. Freezing a later version as the previous one ends this. */
const ADDED = ['endpointTurns'];

describe('the code of the previous version', () => {
  it('exports everything that the present one exports, except what was added since', async () => {
    const { present, previous } = await versions();

    expect([...Object.keys(previous), ...ADDED].toSorted()).toEqual(Object.keys(present).toSorted());
  });

  it('names its commit', () => {
    const note = JSON.parse(readFileSync(join(PREVIOUS, 'code.json'), 'utf8'));
    const { commit } = z
      .object({ commit: z.string().regex(/^[0-9a-f]{40}$/), committedAt: z.string() })
      .parse(note);

    expect(readFileSync(join(PREVIOUS, 'code.mjs'), 'utf8').split('\n')[0]).toContain(commit);
  });

  it('is small enough for the repository', () => {
    expect(statSync(join(PREVIOUS, 'code.mjs')).size).toBeLessThan(300 * 1024);
  });
});
