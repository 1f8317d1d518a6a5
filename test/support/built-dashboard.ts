import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

let made: string | undefined;

/**
 * A directory like a minimal build of the dashboard, for tests of the code around it. Deleted when the
 * process ends.
 */
export function builtDashboard(): string {
  if (made !== undefined) return made;
  const directory = mkdtempSync(join(tmpdir(), 'dashboard-'));
  mkdirSync(join(directory, 'assets'));
  writeFileSync(
    join(directory, 'index.html'),
    '<!doctype html><script type="module" src="/assets/app-1.js"></script>',
  );
  writeFileSync(join(directory, 'icon.svg'), '<svg xmlns="http://www.w3.org/2000/svg"/>');
  writeFileSync(join(directory, 'assets/app-1.js'), 'document.title = "Dashboard";\n'.repeat(100));
  process.on('exit', () => rmSync(directory, { recursive: true, force: true }));
  made = directory;
  return directory;
}
