import { nodeVersionProblem } from '../lib/cli/terminal/node-version.ts';

const problem = nodeVersionProblem(process.versions.node);
if (problem !== undefined) {
  process.stderr.write(`${problem}\n`);
  process.exit(1);
}
// After the version check: an older Node.js fails on these modules with unclear errors.
const { listenCommand } = await import('../lib/cli/listen/command.ts');
process.exit(await listenCommand(process.argv.slice(2)));
