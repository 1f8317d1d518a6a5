import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';

type Package = Partial<Record<'os' | 'cpu' | 'libc' | 'optional' | 'devOptional', unknown>>;

/**
 * Packages of some platforms that `npm ci` does not leave out on the others (EBADPLATFORM): all that are not
 * `optional`. `devOptional` is a hard dependency of something.
 */
const refusedElsewhere = (packages: Readonly<Record<string, Package>>): string[] =>
  Object.entries(packages)
    .filter(([, { os, cpu, libc, optional }]) => (os ?? cpu ?? libc) !== undefined && optional !== true)
    .map(([path]) => path);

it('the lock file installs on every platform: packages of one platform are optional', () => {
  const file = join(import.meta.dirname, '../../../package-lock.json');
  expect(refusedElsewhere(JSON.parse(readFileSync(file, 'utf8')).packages)).toEqual([]);
});

it.each([{ os: ['linux'] }, { cpu: ['x64'] }, { libc: ['glibc'] }, { os: ['linux'], devOptional: true }])(
  'a hard dependency with %j is reported',
  (hard) => {
    const packages = { hard, optional: { os: ['linux'], optional: true }, everywhere: {} };
    expect(refusedElsewhere(packages)).toEqual(['hard']);
  },
);
