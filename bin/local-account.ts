import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ACCOUNT_PAGE, accountPage } from '../lib/local/template/account-page.ts';

writeFileSync(join(import.meta.dirname, '..', ACCOUNT_PAGE), accountPage());
