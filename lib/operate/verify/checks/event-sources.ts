import {
  type EventSourceMappingConfiguration,
  type LambdaClient,
  ListEventSourceMappingsCommand,
} from '@aws-sdk/client-lambda';
import type { Place } from '../../place.ts';
import { type Check, CheckFailed, requireNone } from '../check.ts';
import type { VerifyContext } from '../context.ts';

/** Tables whose streams the engine reads. */
const STREAMED = ['outbox', 'deliveries'];

export const eventSourceChecks = ({ place, clients }: VerifyContext): Check[] => [
  {
    name: 'Event source mappings',
    async run() {
      const prefix = functionPrefix(place);
      const mappings = (await listMappings(clients.lambda)).filter(({ FunctionArn = '' }) =>
        FunctionArn.includes(`:function:${prefix}`),
      );
      requireNone(findMappingProblems(mappings, place));
      return `${mappings.length} enabled`;
    },
  },
];

/**
 * Prefix of the deployment's function names.
 * @throws CheckFailed when the outputs lack it
 */
function functionPrefix({ outputs }: Place): string {
  const [, prefix] = /^(.+-)enrol$/.exec(outputs.EnrolFunctionName ?? '') ?? [];
  if (prefix === undefined) throw new CheckFailed('The outputs name no function by which others are found.');
  return prefix;
}

async function listMappings(client: LambdaClient): Promise<EventSourceMappingConfiguration[]> {
  const all: EventSourceMappingConfiguration[] = [];
  let Marker: string | undefined;
  do {
    const page = await client.send(new ListEventSourceMappingsCommand({ ...(Marker && { Marker }) }));
    all.push(...(page.EventSourceMappings ?? []));
    Marker = page.NextMarker;
  } while (Marker !== undefined && Marker !== '');
  return all;
}

/** One line for each mapping that is disabled or fails, and for each queue or stream without a mapping. */
export function findMappingProblems(
  mappings: readonly EventSourceMappingConfiguration[],
  { queues, tables }: Pick<Place, 'queues' | 'tables'>,
): string[] {
  const labels = new Map([
    ...[...queues].map(([name, url]): [string, string] => [lastSegment(url, '/'), `the queue ${name}`]),
    ...[...tables].map(([name, table]): [string, string] => [table, `the stream of ${name}`]),
  ]);
  const sourceOf = ({ EventSourceArn = '' }: EventSourceMappingConfiguration): string =>
    /:table\/([^/]+)\//.exec(EventSourceArn)?.[1] ?? lastSegment(EventSourceArn, ':');
  const read = new Set(mappings.map(sourceOf));
  const expected = [
    ...[...queues.values()].map((url) => lastSegment(url, '/')),
    ...STREAMED.flatMap((name) => tables.get(name) ?? []),
  ];
  return [
    ...mappings.flatMap((mapping) => {
      const { State = 'unknown', LastProcessingResult = '', FunctionArn = '' } = mapping;
      const what = `${functionName(FunctionArn)} from ${labels.get(sourceOf(mapping)) ?? sourceOf(mapping)}`;
      if (State !== 'Enabled') return [`The mapping of ${what} is ${State}.`];
      if (LastProcessingResult.startsWith('PROBLEM'))
        return [`The mapping of ${what} reports "${LastProcessingResult}".`];
      return [];
    }),
    ...expected.filter((source) => !read.has(source)).map((source) => `Nothing reads ${labels.get(source)}.`),
  ];
}

const functionName = (arn: string): string => /:function:([^:]+)/.exec(arn)?.[1] ?? arn;

const lastSegment = (text: string, separator: string): string => text.split(separator).at(-1) ?? text;
