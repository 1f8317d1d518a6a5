import { copyFileSync, mkdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';
import { checkedOut, commitOf, ROOT } from './worktree.ts';

const HELP = `Makes one file of the code of a commit, for the simulation of two versions side by side: node test/compatibility/freeze.ts <commit>

The file and a note of the commit are written to test/compatibility/previous. Do this when a release is in production: it is the version
that the next one has to work beside.
`;

const PREVIOUS = join(import.meta.dirname, 'previous');
const ENTRY = 'test/compatibility/code.ts';

async function freeze(wanted: string): Promise<void> {
  const { commit, committedAt } = commitOf(wanted);
  mkdirSync(PREVIOUS, { recursive: true });
  const outfile = join(PREVIOUS, 'code.mjs');
  await checkedOut(commit, async (directory) => {
    mkdirSync(join(directory, ENTRY, '..'), { recursive: true });
    copyFileSync(join(ROOT, ENTRY), join(directory, ENTRY));
    return build({
      absWorkingDir: directory,
      entryPoints: [ENTRY],
      outfile,
      bundle: true,
      minify: true,
      // Errors are distinguished by their names.
      keepNames: true,
      format: 'esm',
      platform: 'node',
      target: 'node24',
      // Both versions share the SDK, so that its commands and errors are the same classes.
      external: ['@aws-sdk/*', '@smithy/*'],
      banner: { js: `/* The code of ${commit}, by freeze.ts. */` },
      logLevel: 'error',
    });
  });
  writeFileSync(join(PREVIOUS, 'code.json'), `${JSON.stringify({ commit, committedAt }, undefined, 2)}\n`);
  const kib = Math.round(statSync(outfile).size / 1024);
  process.stdout.write(`  ${outfile}, ${kib} KiB: the code of ${commit.slice(0, 7)} of ${committedAt}\n`);
}

const [wanted, ...more] = process.argv.slice(2);
if (wanted === undefined || wanted.startsWith('-') || more.length > 0) {
  process.stdout.write(HELP);
  process.exitCode = wanted === '--help' ? 0 : 2;
} else await freeze(wanted);
