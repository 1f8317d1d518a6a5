import { nodeVersionProblem } from '../lib/cli/terminal/node-version.ts';

const problem = nodeVersionProblem(process.versions.node);
if (problem !== undefined) {
  process.stderr.write(`${problem}\n`);
  process.exit(1);
}
// After the version check: an older Node.js fails on these modules with unclear errors.
const { forwardCommand } = await import('../lib/cli/forward/command.ts');
process.exit(await forwardCommand(process.argv.slice(2)));
