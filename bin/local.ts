import { setFlagsFromString } from 'node:v8';
import { nodeVersionProblem } from 'terminal/node-version.ts';

const problem = nodeVersionProblem(process.versions.node);
if (problem !== undefined) {
  process.stderr.write(`${problem}\n`);
  process.exit(1);
}
// By default the heap grows to several times what is in use before garbage is collected: 100 MiB more under
// load.
setFlagsFromString('--heap-growing-percent=120');
// After the version check: an older Node.js fails on these modules with unclear errors.
const { startCommand } = await import('../lib/local-run/start/start-command.ts');
process.exit(await startCommand(process.argv.slice(2)));
