import { mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { fingerprintOf } from '../../../lib/local-run/start/assembly-inputs.ts';

const FILES = [
  'bin/app.ts',
  'lib/infra/stack.ts',
  'lib/openapi/page.ts',
  'functions/api/a.ts',
  'dashboard/index.html',
  'dashboard/package.json',
  'dashboard/public/icon.svg',
  'dashboard/src/main.tsx',
  'dashboard/tsconfig.json',
  'dashboard/vite.config.ts',
  'package.json',
  'package-lock.json',
];

async function aProject() {
  const project = await mkdtemp(join(tmpdir(), 'project-'));
  onTestFinished(() => rm(project, { recursive: true, force: true }));
  const write = async (file: string, text: string) => {
    await mkdir(dirname(join(project, file)), { recursive: true });
    await writeFile(join(project, file), text);
  };
  for (const file of FILES) await write(file, `the text of ${file}`);
  return { project, write, fingerprint: (context: object = {}) => fingerprintOf(project, context) };
}

it('is the same for the same inputs', async () => {
  const [first, second] = [await aProject(), await aProject()];
  expect(await first.fingerprint({ a: 1 })).toBe(await second.fingerprint({ a: 1 }));
});

it.each(FILES)('changes when %s changes', async (file) => {
  const { write, fingerprint } = await aProject();
  const before = await fingerprint();
  await write(file, 'another text');
  expect(await fingerprint()).not.toBe(before);
});

it('changes with another context, a further file, or a file of another name', async () => {
  const { project, write, fingerprint } = await aProject();
  const seen = [await fingerprint(), await fingerprint({ retryBaseSeconds: 1 })];
  await write('functions/api/b.ts', '');
  seen.push(await fingerprint());
  await rename(join(project, 'functions/api/b.ts'), join(project, 'functions/api/c.ts'));
  seen.push(await fingerprint());
  expect(new Set(seen).size).toBe(seen.length);
});

it('does not depend on files that no assembly is made of', async () => {
  const { write, fingerprint } = await aProject();
  const before = await fingerprint();
  await write('lib/local/cloud.ts', 'the local run');
  await write('test/unit/a.test.ts', 'a test');
  expect(await fingerprint()).toBe(before);
});
