import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';

/*
 * `npm test`: lint beside the tests, because many tests wait rather than compute. Prints what lint finds and
 * stops the tests when it fails.
 */
const lint = spawn('npm', ['run', '--silent', 'lint:sources'], { stdio: ['ignore', 'pipe', 'pipe'] });
const tests = spawn('vitest', ['run', '--config', 'test/vitest.config.ts', ...process.argv.slice(2)], {
  stdio: 'inherit',
  // Bundling takes a quarter less of the processors when Go collects garbage later.
  env: { GOGC: '400', ...process.env },
});
const ended = once(tests, 'exit');
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.once(signal, () => {
    for (const child of [lint, tests]) child.kill(signal);
  });

const [printed, errors, [code]] = await Promise.all([
  text(lint.stdout),
  text(lint.stderr),
  once(lint, 'close'),
]);
if (code !== 0) {
  process.stderr.write(`\nnpm run lint failed, so the tests are stopped:\n${printed}${errors}\n`);
  tests.kill('SIGINT');
}
const [failed] = await ended;
process.exitCode = code !== 0 || failed !== 0 ? 1 : 0;
