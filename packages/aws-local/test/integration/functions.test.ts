import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { SandboxCapacity } from '../../src/functions/capacity.ts';
import { ASYNC_EVENT_BYTES, EVENT_BYTES } from '../../src/functions/runtime.ts';
import { awaitAssertion } from '../support/until.ts';
import { aFunction, aFunctionModule } from './a-function.ts';
import { isAlive } from './processes.ts';
import { temporaryDirectory } from './temporary-directory.ts';

describe('a function', () => {
  it("returns its handler's result, with the context of the invocation", async () => {
    const fn = aFunction(
      'return { event, name: context.functionName, arn: context.invokedFunctionArn, memory: context.memoryLimitInMB };',
    );
    expect(await fn.invoke({ é: [1, null] })).toEqual({
      payload: {
        event: { é: [1, null] },
        name: 'Test-Function',
        arn: 'arn:aws:lambda:us-east-1:000000000000:function:Test-Function',
        memory: '256',
      },
    });
    expect((await fn.invoke(undefined)).payload).toMatchObject({ event: null });
  });

  it("has its own environment, and none of the runtime's settings", async () => {
    const fn = aFunction('return process.env;', {
      environment: { TABLE: 't', AWS_EXECUTION_ENV: 'local_nodejs24.x' },
    });
    const { payload } = await fn.invoke({});
    expect(payload).toMatchObject({
      TABLE: 't',
      AWS_EXECUTION_ENV: 'local_nodejs24.x',
      AWS_REGION: 'us-east-1',
    });
    expect(payload).not.toHaveProperty('LOCAL_RUN_AUTHORIZATION');
    expect(payload).not.toHaveProperty('VITEST');
  });

  it('keeps its sandbox for the next invocation', async () => {
    const fn = aFunctionModule('let count = 0; export const handler = async () => (count += 1);');
    expect([(await fn.invoke({})).payload, (await fn.invoke({})).payload]).toEqual([1, 2]);
    expect(fn.processIds()).toHaveLength(1);
  });

  it('returns an error that the handler throws, and continues in the same sandbox', async () => {
    const fn = aFunctionModule(
      'let count = 0; export const handler = async (event) => { count += 1; if (event.fail) throw new TypeError("no"); return count; };',
    );
    expect(await fn.invoke({ fail: true })).toMatchObject({
      functionError: 'Unhandled',
      payload: { errorType: 'TypeError', errorMessage: 'no' },
    });
    expect((await fn.invoke({})).payload).toBe(2);
  });

  it('returns the reason when its module cannot be loaded', async () => {
    const missing = aFunctionModule('import "not-there"; export const handler = async () => 1;');
    expect(await missing.invoke({})).toMatchObject({
      functionError: 'Unhandled',
      payload: { errorMessage: expect.stringContaining('not-there') },
    });
    const wrongName = aFunction('return 1;', { handler: 'index.other' });
    expect((await wrongName.invoke({})).payload).toMatchObject({ errorType: 'Runtime.HandlerNotFound' });
  });

  it('is ended at its timeout, even in an endless loop, and restarted', async () => {
    const fn = aFunction('if (event.hang) for (;;) {} return "fine";', { timeoutSeconds: 1 });
    const { payload, functionError } = await fn.invoke({ hang: true });
    expect(functionError).toBe('Unhandled');
    expect(payload).toMatchObject({
      errorType: 'Sandbox.Timedout',
      errorMessage: expect.stringMatching(/Task timed out after 1\.00 seconds$/),
    });
    expect((await fn.invoke({})).payload).toBe('fine');
  });

  it('reports the end of its process, and is restarted', async () => {
    const fn = aFunction('if (event.exit) process.exit(3); return "fine";');
    expect((await fn.invoke({ exit: true })).payload).toMatchObject({
      errorType: 'Runtime.ExitError',
      errorMessage: expect.stringContaining('exit status 3'),
    });
    expect((await fn.invoke({})).payload).toBe('fine');
  });

  it('cannot return more than six megabytes', async () => {
    const fn = aFunction('return "x".repeat(event.length);');
    expect((await fn.invoke({ length: 6_000_000 })).functionError).toBeUndefined();
    expect((await fn.invoke({ length: 7_000_000 })).payload).toMatchObject({
      errorType: 'Function.ResponseSizeTooLarge',
    });
  });

  it('accepts an event of six megabytes, or of 256 KB in an asynchronous invocation', async () => {
    const fn = aFunction('return JSON.stringify(event).length;');
    const textOf = (bytes: number) => 'x'.repeat(bytes - 2);
    const tooLarge = { functionError: 'Unhandled', payload: { errorType: 'RequestTooLargeException' } };

    expect((await fn.invoke(textOf(EVENT_BYTES))).payload).toBe(EVENT_BYTES);
    expect(await fn.invoke(textOf(EVENT_BYTES + 1))).toMatchObject(tooLarge);
    expect((await fn.invokeAsync(textOf(ASYNC_EVENT_BYTES))).payload).toBe(ASYNC_EVENT_BYTES);
    expect(await fn.invokeAsync(textOf(ASYNC_EVENT_BYTES + 1))).toMatchObject(tooLarge);
    const limited = aFunction('return 1;', { eventBytes: 10, asyncEventBytes: 5 });
    expect(await limited.invoke(textOf(11))).toMatchObject(tooLarge);
    expect(await limited.invokeAsync(textOf(6))).toMatchObject(tooLarge);
    expect((await limited.invokeAsync(textOf(5))).payload).toBe(1);
  });

  it('passes on its output line by line', async () => {
    const lines: string[] = [];
    const fn = aFunction(
      'process.stdout.write("one\\ntw"); process.stdout.write("o\\n"); process.stderr.write("three\\n");',
      {
        onLog: (line) => lines.push(line),
      },
    );
    await fn.invoke({});
    await awaitAssertion(() => expect(lines.toSorted()).toEqual(['one', 'three', 'two']));
  });

  it('replaces a sandbox that died between invocations', async () => {
    const fn = aFunction('return process.pid;');
    const { payload: first } = await fn.invoke({});
    process.kill(Number(first), 'SIGKILL');
    await awaitAssertion(() => expect(fn.processIds()).toEqual([]));
    expect((await fn.invoke({})).payload).not.toBe(first);
  });
});

describe('invocations of one function', () => {
  it('run in parallel in at most the permitted sandboxes, and the others wait in order', async () => {
    const gate = temporaryDirectory();
    const fn = aFunctionModule(
      `import { existsSync, writeFileSync } from 'node:fs';
      export const handler = async (number) => {
        writeFileSync('${gate}/started-' + number, '');
        while (!existsSync('${gate}/open')) await new Promise((done) => setTimeout(done, 10));
        return process.pid;
      };`,
      { maxSandboxes: 2 },
    );
    const results = [0, 1, 2, 3].map((number) => fn.invoke(number));
    await awaitAssertion(() => expect(readdirSync(gate).toSorted()).toEqual(['started-0', 'started-1']));
    expect(fn.processIds()).toHaveLength(2);
    writeFileSync(join(gate, 'open'), '');
    const pids = (await Promise.all(results)).map(({ payload }) => payload);
    expect(new Set(pids.slice(0, 2)).size).toBe(2);
    expect(new Set(pids).size).toBe(2);
  });

  it('end when the function is stopped, with its processes', async () => {
    const fn = aFunction('await new Promise(() => setInterval(() => {}, 1000));');
    const running = fn.invoke({});
    const waiting = fn.invoke({});
    await awaitAssertion(() => expect(fn.processIds()).toHaveLength(1));
    const pids = fn.processIds();
    await fn.stop();
    expect(pids.filter(isAlive)).toEqual([]);
    for (const result of [await running, await waiting, await fn.invoke({})]) {
      expect(result).toMatchObject({
        functionError: 'Unhandled',
        payload: { errorType: 'Runtime.ExitError', errorMessage: 'The local run has stopped' },
      });
    }
  });
});

/**
 * Handler that records its event in the directory and, if the event says so, waits for a file named `open`
 * there.
 */
const gated = (directory: string) => `
  import { existsSync, writeFileSync } from 'node:fs';
  export const handler = async ({ name, waits }) => {
    writeFileSync('${directory}/' + name, '');
    while (waits && !existsSync('${directory}/open')) await new Promise((done) => setTimeout(done, 10));
    return name;
  };`;

describe('the lanes of a function', () => {
  it('do not wait for one another, however long invocations take', async () => {
    const gate = temporaryDirectory();
    const fn = aFunctionModule(gated(gate), { maxSandboxes: 4 });
    const [slow, fresh] = [fn.lane(2), fn.lane(2)];
    const hanging = [1, 2, 3, 4].map((number) => slow.invoke({ name: `slow-${number}`, waits: true }));
    await awaitAssertion(() => expect(readdirSync(gate)).toEqual(['slow-1', 'slow-2']));
    for (const name of ['fresh-1', 'fresh-2', 'fresh-3'])
      expect((await fresh.invoke({ name })).payload).toBe(name);
    expect(readdirSync(gate)).toEqual(['fresh-1', 'fresh-2', 'fresh-3', 'slow-1', 'slow-2']);
    writeFileSync(join(gate, 'open'), '');
    expect((await Promise.all(hanging)).map(({ payload }) => payload)).toHaveLength(4);
  });

  it('do not wait again and again for short invocations of one another', async () => {
    const fn = aFunction('await new Promise((resolve) => setTimeout(resolve, 30));', { maxSandboxes: 2 });
    const [busy, fresh] = [fn.lane(1), fn.lane(1)];
    // Each wait is too short to be a reason for another sandbox.
    await awaitAssertion(async () => {
      await Promise.all([busy.invoke({}), fresh.invoke({})]);
      expect(fn.size).toBe(2);
    });
  });

  it('accept as many invocations as there are sandboxes left for them, and one to grow', async () => {
    const gate = temporaryDirectory();
    const fn = aFunctionModule(gated(gate), { maxSandboxes: 6 });
    const [slow, fresh] = [fn.lane(3), fn.lane(3)];
    expect([slow.concurrency, fresh.concurrency]).toEqual([1, 1]);
    const hanging = [1, 2, 3].map((number) => slow.invoke({ name: `slow-${number}`, waits: true }));
    await awaitAssertion(() => expect(readdirSync(gate)).toHaveLength(3));
    expect([slow.concurrency, fresh.concurrency]).toEqual([3, 1]);
    await fresh.invoke({ name: 'fresh' });
    expect(fresh.concurrency).toBe(2);
    writeFileSync(join(gate, 'open'), '');
    await Promise.all(hanging);
    expect([slow.concurrency, fresh.concurrency]).toEqual([3, 3]);
  });

  it('replace an idle sandbox of another function when they have none in progress', async () => {
    const gate = temporaryDirectory();
    const capacity = new SandboxCapacity(2);
    const other = aFunction('return "other";', { name: 'other', capacity });
    const fn = aFunctionModule(gated(gate), { maxSandboxes: 4, capacity });
    const [slow, fresh] = [fn.lane(2), fn.lane(2)];
    await other.invoke({});
    const hanging = slow.invoke({ name: 'slow', waits: true });
    await awaitAssertion(() => expect(readdirSync(gate)).toEqual(['slow']));
    expect((await fresh.invoke({ name: 'fresh' })).payload).toBe('fresh');
    writeFileSync(join(gate, 'open'), '');
    await hanging;
    expect((await other.invoke({})).payload).toBe('other');
  });
});

describe('functions that share a capacity', () => {
  it('take turns when there are fewer places than functions', async () => {
    const capacity = new SandboxCapacity(1);
    const [a, b, c] = ['a', 'b', 'c'].map((name) => aFunction(`return "${name}";`, { name, capacity }));
    const rounds = await Promise.all([a, b, c, a, b, c].map((fn) => fn?.invoke({})));
    expect(rounds.map((result) => result?.payload)).toEqual(['a', 'b', 'c', 'a', 'b', 'c']);
  });
});
