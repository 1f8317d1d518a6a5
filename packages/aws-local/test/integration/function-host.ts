import { LocalFunction } from '../../src/functions/runtime.ts';

/*
 * A program that runs a function in the directory given, prints the sandboxes' process ids, and stays until
 * it is killed: one sandbox is idle then, another in the midst of an invocation.
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
