import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { expect, it } from 'vitest';

const recommended = createRequire(import.meta.url).resolve('aws-cdk-lib/recommended-feature-flags.json');
const parse = (file: string) => JSON.parse(readFileSync(file, 'utf8'));

it('cdk.json decides about each flag that the installed CDK recommends', () => {
  const { context } = parse(join(import.meta.dirname, '../../../cdk.json'));
  expect(Object.keys(context).toSorted()).toEqual(Object.keys(parse(recommended)).toSorted());
});
