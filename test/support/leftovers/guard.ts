import { spawn } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import type { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createMemoryDirectory, MEMORY_VARIABLE } from 'aws-local/test/memory-directory.ts';

/** Of the directories, whose names end in six random characters: no other process names them. */
const PREFIX = 'tests-';

/**
 * Ends what names one of two directories in its command or its environment, and deletes them, once its input
 * has ended. It reads the directories, because it would find itself if its command named them.
 */
const GUARD = `
read -r memory && read -r temporary || exit 1
for directory in "$memory" "$temporary"; do
  case "$directory" in /*/${PREFIX}??????) ;; *) exit 1 ;; esac
done
cat > /dev/null
named() {
  printf '%s\\n%s\\n' "$memory" "$temporary" | grep -laFf - /proc/[0-9]*/cmdline /proc/[0-9]*/environ 2> /dev/null
}
# A killed process can have started another one meanwhile.
for try in 1 2 3 4 5 6 7 8 9 10; do
  files=$(named)
  [ -n "$files" ] || break
  for file in $files; do
    id=\${file#/proc/}
    kill -KILL "\${id%%/*}" 2> /dev/null
  done
done
rm -rf "$memory" "$temporary"
`;

/**
 * Gives the tests of a run their directories, and starts a program that removes them, and the processes that
 * use them, when this process has ended in any way. Processes of a local run outlive the tests that started
 * them if a signal ends the tests.
 */
export default function setup(): void {
  const memory = createMemoryDirectory(PREFIX);
  const temporary = mkdtempSync(join(tmpdir(), PREFIX));
  // In a session of its own, which Ctrl-C does not reach.
  const guard = spawn('sh', ['-c', GUARD], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
    env: { PATH: process.env.PATH },
  });
  guard.stdin.write(`${memory}\n${temporary}\n`);
  guard.unref();
  (guard.stdin as Socket).unref();
  process.env[MEMORY_VARIABLE] = memory;
  process.env.TMPDIR = temporary;
}
