import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { writeRoutes } from '../test/routes.ts';

const PACKAGE = join(import.meta.dirname, '..');

writeFileSync(join(PACKAGE, 'src/routes.gen.ts'), writeRoutes());
// The client imports what was just written.
const { writeCoveragePage } = await import('../test/surface.ts');
writeFileSync(join(PACKAGE, '../../docs/reference/typescript-client.md'), writeCoveragePage());
