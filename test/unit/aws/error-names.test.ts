import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { OWN_ERRORS } from '../../../functions/aws/failure-fields.ts';

const FUNCTIONS = join(import.meta.dirname, '../../../functions');
const CLASS = /class (\w+) extends \w+ \{(?:\s*\/\*\*.*?\*\/)?\s*override (?:readonly )?name = '(\w+)'/gs;

const namesIn = (source: string): [name: string, shown: string][] =>
  [...source.matchAll(CLASS)].map(([, name = '', shown = '']) => [name, shown]);

describe('an error of the service', () => {
  const errors = globSync('**/*.ts', { cwd: FUNCTIONS }).flatMap((path) =>
    namesIn(readFileSync(join(FUNCTIONS, path), 'utf8')),
  );

  it('is logged by the name of its class', () => {
    expect(errors.length).toBeGreaterThan(15);
    // Errors with AWS's name for a throttled request count as throttling.
    expect(errors.filter(([name, shown]) => name !== shown && shown !== 'ThrottlingException')).toEqual([]);
  });

  it('has its message logged only while a class has its name', () => {
    expect([...OWN_ERRORS].filter((own) => !errors.some(([name]) => name === own))).toEqual([]);
  });

  it('is found when its name differs from its class', () => {
    expect(namesIn("class NotSent extends Error {\n  override name = 'Unsent';\n}")).toEqual([
      ['NotSent', 'Unsent'],
    ]);
  });
});
