import { LocalFunction } from '../../src/functions/runtime.ts';

/*
 * A program that runs a function in the given directory, prints the sandboxes' process ids, and runs until it
 * is killed, with one idle sandbox and one in the middle of an invocation.
 */
const fn = new LocalFunction({
  name: 'Hosted',
  directory: process.argv[2] ?? '',
  handler: 'index.handler',
  timeoutSeconds: 60,
  memoryMiB: 128,
  environment: {},
  maxSandboxes: 2,
  statements: [],
});
void fn.invoke({ ms: 60_000 });
await fn.invoke({ ms: 0 });
process.stdout.write(`${JSON.stringify(fn.processIds())}\n`);
