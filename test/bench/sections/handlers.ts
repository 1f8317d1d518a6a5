import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { LocalFunction } from 'aws-local/functions/runtime.ts';
import type { RouteKey } from '../../../functions/api/routes.ts';
import type { FunctionName } from '../../../lib/infra/grants/grant.ts';
import type { Operation } from '../../fuzz/document.ts';
import { type Block, type Figure, figure } from '../figure.ts';
import { cpuMsOf, variableOf } from '../measure/processor-time.ts';
import { type MeasuredService, withService } from '../measure/service.ts';
import { median } from '../measure/statistics.ts';
import { callAll, routeOf, routeOperations } from '../requests/calls.ts';
import type { SeenInvocation } from '../requests/invocations.ts';
import type { Bench, Section } from '../section.ts';

/** Invocations before the measurement, and of each run. */
interface Extent {
  runs: number;
  warming: number;
  each: number;
}

const WHOLE: Extent = { runs: 7, warming: 80, each: 15 };
const SMOKE: Extent = { runs: 5, warming: 60, each: 15 };
/** The routes of a short run: a write with its event, a read, a list. */
const FEW: readonly string[] = [
  'createMessage',
  'readConversation',
  'listConversations',
] satisfies RouteKey[];
const NOTHING = '(does nothing)';

/** Answers like a handler, without reading the request. */
const DOES_NOTHING = `export const handler = async () => ({ statusCode: 200, headers: {}, body: '{"success":true}' });`;

/** Milliseconds of processor time of an invocation, by run. */
type Times = number[];

/**
 * Invokes repeatedly with the same event.
 * @param invoke returns the status of the answer, and its process
 */
async function replayed(
  invoke: () => Promise<{ status: number; pid: number }>,
  { runs, warming, each: extent }: Extent,
) {
  const statuses = new Set<number>();
  let pid = 0;
  const times = async (count: number) => {
    for (let done = 0; done < count; done += 1) {
      const answer = await invoke();
      pid = answer.pid;
      statuses.add(answer.status);
    }
  };
  await times(warming);
  const cpuMs: Times = [];
  for (let run = 0; run < runs; run += 1) {
    const before = cpuMsOf(pid);
    await times(extent);
    cpuMs.push((cpuMsOf(pid) - before) / extent);
  }
  return { cpuMs, isAllSuccess: [...statuses].every((status) => status < 400) };
}

/** A handler without work, in a process like those of the others. */
async function nothing({ node, taken }: MeasuredService, event: string, extent: Extent): Promise<Times> {
  const directory = join(dirname(node), 'nothing');
  mkdirSync(directory);
  writeFileSync(join(directory, 'index.mjs'), DOES_NOTHING);
  const fn = new LocalFunction({
    name: NOTHING,
    directory,
    handler: 'index.handler',
    timeoutSeconds: 10,
    memoryMiB: 512,
    environment: {},
    maxSandboxes: 1,
    statements: [],
    nodeBinary: node,
  });
  taken();
  const { cpuMs } = await replayed(async () => {
    const { payload } = await fn.invokeSerialized(event);
    return { status: Object(payload).statusCode, pid: taken().at(-1)?.pid ?? 0 };
  }, extent);
  await fn.stop();
  return cpuMs;
}

/** The events of functions, by the function's name. */
function eventsOf(seen: readonly SeenInvocation[]): Map<string, SeenInvocation> {
  const names = new Map<number, string>();
  for (const { pid } of seen) names.set(pid, names.get(pid) ?? variableOf(pid, 'FUNCTION_NAME') ?? '');
  return new Map(seen.map((one) => [names.get(one.pid) ?? '', one]));
}

/** Processor time of calls by route, and over that of a handler without work. */
export async function handlerFigures(
  measured: MeasuredService,
  { isSmoke, runs, progress }: Pick<Bench, 'isSmoke' | 'runs' | 'progress'>,
): Promise<Figure[]> {
  const operations = routeOperations().filter(({ id }) => !isSmoke || FEW.includes(id));
  const extent = { ...(isSmoke ? SMOKE : WHOLE), ...(runs === undefined ? {} : { runs }) };
  progress(`${operations.length} routes: what they are called with`);
  measured.taken();
  await callAll(measured, operations, 1, false);
  const events = eventsOf(measured.taken());
  const post = [...events.values()].find(({ event }) => event.includes('"httpMethod":"POST"'));
  const floor = await nothing(measured, post?.event ?? '{}', extent);
  const times = new Map<string, Times>([[NOTHING, floor]]);
  const once: Operation[] = [];
  for (const [index, operation] of operations.entries()) {
    if (index % 10 === 0) progress(`${index} of ${operations.length} routes`);
    const { name } = routeOf(operation);
    const seen = events.get(name);
    if (seen === undefined) throw new Error(`${name} was not invoked`);
    const { cpuMs, isAllSuccess } = await replayed(async () => {
      const answer = await measured.service.invoke(name as FunctionName, JSON.parse(seen.event));
      return { status: Object(answer).statusCode, pid: measured.taken().at(-1)?.pid ?? seen.pid };
    }, extent);
    // An action that is possible only once was refused from then on: it is warm now, and needs resources of
    // its own.
    if (isAllSuccess) times.set(operation.id, cpuMs);
    else once.push(operation);
  }
  for (const [id, cpuMs] of await calledOnce(measured, once, { runs: extent.runs, progress }))
    times.set(id, cpuMs);
  const rows = [...times].sort(([, a], [, b]) => median(a) - median(b));
  return rows.flatMap(([id, cpuMs]) => [
    ...(isSmoke ? [] : [figure(id, 'CPU', cpuMs, { unit: 'ms' })]),
    ...(id === NOTHING
      ? []
      : [
          figure(
            id,
            'ratio',
            cpuMs.map((ms) => ms / median(floor)),
            { unit: 'x' },
          ),
        ]),
  ]);
}

/** Calls routes each time for new resources. A run is one call. */
async function calledOnce(
  measured: MeasuredService,
  operations: readonly Operation[],
  { runs, progress }: { runs: number; progress: Bench['progress'] },
): Promise<Map<string, Times>> {
  const times = new Map(operations.map(({ id }) => [id, [] as Times]));
  if (operations.length === 0) return times;
  progress(`${operations.length} routes that take new things each time`);
  for (let run = 0; run < runs; run += 1) {
    measured.taken();
    await callAll(measured, operations, 1, false);
    const events = eventsOf(measured.taken());
    for (const operation of operations) {
      const seen = events.get(routeOf(operation).name);
      if (seen !== undefined) times.get(operation.id)?.push(seen.cpuMs);
    }
  }
  return times;
}

async function run(bench: Bench): Promise<Block[]> {
  return withService(async (measured) => [
    {
      title: 'Processor time of a call, by route, against a handler that does nothing',
      figures: await handlerFigures(measured, bench),
      notes: [
        "Of the function's process, warm, with the Node.js options of Lambda and without idempotency keys where a route can do without. The gateway and the tables are not in it.",
        'Mean of some calls with the same request; of what can be done but once, one call.',
      ],
    },
  ]);
}

export const handlers: Section = {
  name: 'handlers',
  about: 'CPU of a call of each route, over that of a handler that does nothing',
  run,
};
