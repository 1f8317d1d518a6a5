import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { deriveAll, writtenOut } from '../lib/cloud/grants/functions.ts';

const HELP = `Derives from the code of each function what its role must allow, and writes it to lib/cloud/grants/access.json.

  npm run grants            write the file
  npm run grants -- --help  this text

Run it after a change of what a function reads, writes or sends. The roles of the next deployment follow the file, and
the tests fail while it does not say what the code does.`;

const { values } = parseArgs({ options: { help: { type: 'boolean', short: 'h' } } });
if (values.help) {
  process.stdout.write(`${HELP}\n`);
} else {
  const file = join(import.meta.dirname, '../lib/cloud/grants/access.json');
  const access = deriveAll();
  writeFileSync(file, writtenOut(access));
  process.stdout.write(
    `Wrote the grants of ${Object.keys(access).length} functions to lib/cloud/grants/access.json.\n`,
  );
}
