import { nodeVersionProblem } from '../lib/cli/terminal/node-version.ts';

const problem = nodeVersionProblem(process.versions.node);
if (problem !== undefined) {
  process.stderr.write(`${problem}\n`);
  process.exit(1);
}
// Loaded after the check: an older Node.js fails on these modules in ways that tell nobody what to do.
const { forwardCommand } = await import('../lib/cli/forward/command.ts');
process.exit(await forwardCommand(process.argv.slice(2)));
