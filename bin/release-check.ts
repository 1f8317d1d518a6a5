import { nodeVersionProblem } from 'terminal/node-version.ts';

const problem = nodeVersionProblem(process.versions.node);
if (problem !== undefined) {
  process.stderr.write(`${problem}\n`);
  process.exit(1);
}
// After the version check: an older Node.js fails on these modules with unclear errors.
const { releaseCheckCommand } = await import('../lib/release-check/command.ts');
const stopping = new AbortController();
// Handled for the whole run: the temporary work tree is removed first.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => stopping.abort());
process.exitCode = await releaseCheckCommand(process.argv.slice(2), {
  output: process.stdout,
  errors: process.stderr,
  signal: stopping.signal,
});
