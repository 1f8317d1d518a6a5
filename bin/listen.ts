import { nodeVersionProblem } from '../lib/cli/terminal/node-version.ts';

const problem = nodeVersionProblem(process.versions.node);
if (problem !== undefined) {
  process.stderr.write(`${problem}\n`);
  process.exit(1);
}
// Loaded after the check: an older Node.js fails on these modules in ways that tell nobody what to do.
const { listenCommand } = await import('../lib/cli/listen/command.ts');
process.exit(await listenCommand(process.argv.slice(2)));
