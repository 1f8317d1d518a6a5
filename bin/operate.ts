import { nodeVersionProblem } from 'terminal/node-version.ts';

const problem = nodeVersionProblem(process.versions.node);
if (problem !== undefined) {
  process.stderr.write(`${problem}\n`);
  process.exit(1);
}
// After the version check: an older Node.js fails on these modules with unclear errors.
const { operateCommand } = await import('../lib/operate/command.ts');
process.exitCode = await operateCommand(process.argv.slice(2), {
  variables: process.env,
  output: process.stdout,
  errors: process.stderr,
  now: () => new Date(),
});
