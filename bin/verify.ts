import { nodeVersionProblem } from 'terminal/node-version.ts';

const problem = nodeVersionProblem(process.versions.node);
if (problem !== undefined) {
  process.stderr.write(`${problem}\n`);
  process.exit(1);
}
// After the version check: an older Node.js fails on these modules with unclear errors.
const { verifyCommand } = await import('../lib/operate/verify/command.ts');
const stopping = new AbortController();
// Handled for the whole run: a second Ctrl-C must not end the process before everything is removed.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => stopping.abort());
process.exitCode = await verifyCommand(process.argv.slice(2), {
  variables: process.env,
  output: process.stdout,
  errors: process.stderr,
  signal: stopping.signal,
  now: () => new Date(),
  clock: () => performance.now(),
});
