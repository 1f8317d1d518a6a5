import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

/*
 * Compiles the package into `dist`. An installation may be copying `dist` meanwhile, so a file that changed
 * is replaced at once, and the others are left alone.
 */
const PACKAGE = join(import.meta.dirname, '..');
const [DIST, CREATED] = [join(PACKAGE, 'dist'), mkdtempSync(join(PACKAGE, '.dist-'))];
const compiler = join(dirname(createRequire(import.meta.url).resolve('typescript/package.json')), 'bin/tsc');

try {
  execFileSync(process.execPath, [compiler, '-p', PACKAGE, '--outDir', CREATED], { stdio: 'inherit' });
  const created = listFiles(CREATED);
  for (const file of created) {
    const [from, to] = [join(CREATED, file), join(DIST, file)];
    if (existsSync(to) && readFileSync(to).equals(readFileSync(from))) continue;
    mkdirSync(dirname(to), { recursive: true });
    renameSync(from, to);
  }
  for (const file of listFiles(DIST)) if (!created.includes(file)) rmSync(join(DIST, file), { force: true });
} finally {
  rmSync(CREATED, { recursive: true });
}

/** Paths of all files, relative to the directory. */
function listFiles(directory: string): string[] {
  return readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(directory.length + 1));
}
