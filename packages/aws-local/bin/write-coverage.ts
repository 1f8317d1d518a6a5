import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { COVERAGE_PAGE, coveragePage } from '../src/template/coverage-page.ts';

writeFileSync(join(import.meta.dirname, '..', COVERAGE_PAGE), coveragePage());
