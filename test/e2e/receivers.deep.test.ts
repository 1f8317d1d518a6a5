import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'vitest';
import { EXAMPLES, findMissing } from '../integration/guides/receivers/examples.ts';
import { aService } from '../integration/service/a-service.ts';
import { followPage } from '../integration/service/local-run/documents.ts';
import { aReaderShell } from '../integration/service/local-run/reader-shell.ts';
import { codeBlocks } from '../support/markdown.ts';
import { WITHOUT_WAITS } from './dashboard-fixture.ts';

/** Package managers, and compilers that run for the first time. */
const PAGE_MS = 600_000;

const missing = await findMissing();

/** The pages' commands, from the installation to the delivery of a test event. */
describe('the quick start', () => {
  const service = aService(WITHOUT_WAITS);

  it.each(EXAMPLES.filter(({ folder }) => !missing.has(folder)))(
    'for $folder prints what it shows',
    { timeout: PAGE_MS },
    async ({ folder }) => {
      const page = readFileSync(
        join(import.meta.dirname, `../../docs/guides/receivers/${folder}.md`),
        'utf8',
      );
      const shell = await aReaderShell(service.run.directory, { withExamples: true });
      await followPage(shell, codeBlocks(page), () => service.run.output());
    },
  );
});
