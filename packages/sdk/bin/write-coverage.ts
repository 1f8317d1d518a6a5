import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { writeCoveragePage } from '../test/surface.ts';

writeFileSync(join(import.meta.dirname, '../../../docs/reference/typescript-client.md'), writeCoveragePage());
