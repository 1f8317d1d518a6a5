import type { Template } from 'aws-cdk-lib/assertions';
import { type Found, references, resourcesOf } from './reading.ts';
import { ofType, statementsOf } from './synthesize.ts';

/*
 * The graph of messages of a template. A node is the logical id of a function, queue, topic, bus or bucket;
 * an edge leads to a possible next recipient of a message.
 */
export type Flow = ReadonlyMap<string, ReadonlySet<string>>;

/** Actions by which a function sends something that may invoke a function. */
const SENDS = new Set([
  'sqs:SendMessage',
  'sns:Publish',
  'events:PutEvents',
  'lambda:InvokeFunction',
  's3:PutObject',
]);

/**
 * Sends of roles, event source mappings, rules, subscriptions, notifications, dead-letter queues and
 * destinations. Tables are left out: DynamoDB does not pass the trace header on, so Lambda detects no loop
 * through a stream.
 */
export function readFlow(template: Template): Flow {
  const resources = resourcesOf(template);
  const flow = new Map<string, Set<string>>();
  const functionOf = (id: string): string => {
    const { Type, Properties } = resources.get(id) ?? {};
    return Type === 'AWS::Lambda::Alias' ? (references(Properties?.FunctionName)[0] ?? id) : id;
  };
  const add = (from: unknown, to: unknown): void => {
    for (const source of references(from).map(functionOf))
      flow.set(source, new Set([...(flow.get(source) ?? []), ...references(to).map(functionOf)]));
  };
  const forEach = (
    type: string,
    read: (properties: Readonly<Record<string, unknown>>, ref: unknown) => void,
  ) => {
    for (const [id, { Properties }] of ofType(template, type)) read(Properties ?? {}, { Ref: id });
  };

  for (const [id, fn] of functionsWithRoles(template, resources))
    for (const { Action, Effect, Resource } of statementsOf(template, fn))
      if (Effect === 'Allow' && [Action].flat().some((action) => SENDS.has(action)))
        add({ Ref: id }, Resource);
  forEach('AWS::Lambda::Function', ({ DeadLetterConfig }, ref) => add(ref, DeadLetterConfig));
  forEach('AWS::Lambda::EventInvokeConfig', ({ FunctionName, DestinationConfig }) =>
    add(FunctionName, DestinationConfig),
  );
  forEach('AWS::Lambda::EventSourceMapping', ({ EventSourceArn, FunctionName, DestinationConfig }) => {
    if (!JSON.stringify(EventSourceArn).includes('StreamArn')) add(EventSourceArn, FunctionName);
    add(FunctionName, DestinationConfig);
  });
  forEach('AWS::SQS::Queue', ({ RedrivePolicy }, ref) => add(ref, RedrivePolicy));
  forEach('AWS::Events::EventBus', ({ DeadLetterConfig }, ref) => add(ref, DeadLetterConfig));
  forEach('AWS::Events::Rule', ({ EventBusName, Targets }) => add(EventBusName, Targets));
  forEach('AWS::SNS::Subscription', ({ TopicArn, Endpoint, RedrivePolicy }) =>
    add(TopicArn, [Endpoint, RedrivePolicy]),
  );
  forEach('AWS::S3::Bucket', ({ NotificationConfiguration }, ref) => add(ref, NotificationConfiguration));
  return flow;
}

/** Functions whose role is in the template, with policies of its own. */
const functionsWithRoles = (template: Template, resources: ReturnType<typeof resourcesOf>): Found[] =>
  ofType(template, 'AWS::Lambda::Function').filter(
    ([, { Properties }]) => resources.get(references(Properties.Role)[0] ?? '')?.Properties.Policies,
  );

/** The shortest path of messages from a node back to it, or undefined. */
export function findCycle(flow: Flow, start: string): string[] | undefined {
  const paths: string[][] = [[start]];
  const seen = new Set<string>();
  for (let path = paths.shift(); path; path = paths.shift())
    for (const next of flow.get(path.at(-1) ?? '') ?? []) {
      if (next === start) return [...path, next];
      if (seen.has(next)) continue;
      seen.add(next);
      paths.push([...path, next]);
    }
  return undefined;
}
