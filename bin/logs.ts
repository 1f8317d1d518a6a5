import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { LOGS_PAGE, logsPage } from '../lib/logs/page.ts';

writeFileSync(join(import.meta.dirname, '..', LOGS_PAGE), logsPage());
