import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { ROOT } from './api-document.ts';
import { writeModels } from './models.ts';
import { COVERAGE_PAGE, writeCoveragePage, writeModules } from './modules.ts';
import { installTools, NoPythonError } from './toolbox.ts';

/*
 * `npm run generate -- python`: writes the modules of the package, and with `--page` only the page of its
 * methods, which needs nothing but Node.js.
 */

function write(files: Record<string, string>): void {
  for (const [file, text] of Object.entries(files)) {
    mkdirSync(dirname(join(ROOT, file)), { recursive: true });
    writeFileSync(join(ROOT, file), text);
    process.stdout.write(`Wrote ${file}.\n`);
  }
}

try {
  write({ [COVERAGE_PAGE]: writeCoveragePage() });
  if (!process.argv.includes('--page')) {
    const tools = installTools();
    write(writeModules());
    writeModels(tools);
    process.stdout.write('Wrote models.py and params.py.\n');
  }
} catch (error) {
  if (!(error instanceof NoPythonError)) throw error;
  process.stderr.write(`The Python client ${error.message}.\n`);
  process.exitCode = 1;
}
