import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from './api-document.ts';
import { generatedFiles } from './generated-files.ts';
import { MODELS_DIRECTORY, writeModels } from './models.ts';
import { installTools, NoPythonError } from './toolbox.ts';

/*
 * `npm run generate -- python`: writes the methods, which needs nothing but Node.js, and with `--types` the
 * types too.
 */

for (const [file, text] of Object.entries(generatedFiles())) {
  writeFileSync(join(ROOT, file), text);
  process.stdout.write(`Wrote ${file}.\n`);
}
if (process.argv.includes('--types')) writeTypes();

function writeTypes(): void {
  try {
    writeModels(installTools(), MODELS_DIRECTORY);
    process.stdout.write('Wrote models.py and params.py.\n');
  } catch (error) {
    if (!(error instanceof NoPythonError)) throw error;
    process.stderr.write(`The generator of types ${error.message}.\n`);
    process.exitCode = 1;
  }
}
