import { Template } from 'aws-cdk-lib/assertions';
import { describe, expect, it } from 'vitest';
import { EVERYTHING, STAGES } from './contexts.ts';
import { type Found, nameOf, ourFunctions, references, resourcesOf } from './reading.ts';
import { functionNamed, ofType, type SynthesizedResource, statementsOf, synthesize } from './synthesize.ts';

/*
 * Lambda stops a function after some 16 invocations in one chain of messages through SQS, SNS, S3 and Lambda,
 * unless RecursiveLoop is Allow (Lambda Developer Guide, "Use Lambda recursive loop detection to prevent
 * infinite loops").
 */

/*
 * The graph of messages of a template. A node is the logical id of a function, queue, topic, bus or bucket;
 * an edge leads to a possible next recipient of a message.
 */
type Flow = ReadonlyMap<string, ReadonlySet<string>>;

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
function readFlow(template: Template): Flow {
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
function findCycle(flow: Flow, start: string): string[] | undefined {
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

/**
 * Functions in a cycle without the property, functions with it outside of any cycle, and loops without a
 * bound.
 */
function differences(template: Template): string[] {
  const flow = readFlow(template);
  return ourFunctions(template).flatMap(([id, fn]) => {
    const cycle = findCycle(flow, id);
    const allows = fn.Properties.RecursiveLoop === 'Allow';
    const { LoopBound } = { LoopBound: undefined, ...Object(Reflect.get(fn, 'Metadata')) };
    const name = nameOf(fn);
    return [
      ...(cycle && !allows ? [`${name} would be stopped in ${cycle.slice(1, -1).join(' → ')}`] : []),
      ...(!cycle && allows ? [`${name} allows a loop and is in none`] : []),
      ...(allows && !LoopBound ? [`${name} allows a loop that nothing ends`] : []),
    ];
  });
}

describe.each(STAGES)('recursive-loop detection in stage %s', (stage) => {
  it('is off for functions of a cycle, and on for all others', () => {
    expect(differences(synthesize({ stage, ...EVERYTHING }))).toEqual([]);
  });
});

describe('the comparison of cycles with RecursiveLoop', () => {
  /** The differences of the template after a change. */
  function withChange(change: (resources: Record<string, SynthesizedResource>, template: Template) => void) {
    const template = Template.fromJSON(structuredClone(synthesize().toJSON()));
    const content = template.toJSON();
    change(content.Resources, template);
    return differences(Template.fromJSON(content)).map((found) => found.replaceAll(/[0-9A-F]{8}\b/g, ''));
  }

  /** Adds a grant to the role of a function. */
  const grant = (resources: Record<string, SynthesizedResource>, name: string, statement: object) => {
    const [, fn] = functionNamed(synthesize(), name);
    const [role = ''] = Object(fn.Properties.Role)['Fn::GetAtt'];
    Object(resources[role]?.Properties).Policies[0].PolicyDocument.Statement.push({
      Effect: 'Allow',
      ...statement,
    });
  };
  const queueOf = (resources: Record<string, SynthesizedResource>, beginning: string) => {
    const id = Object.keys(resources).find((name) => name.startsWith(beginning));
    if (id === undefined) throw new Error(`there is no ${beginning}`);
    return { 'Fn::GetAtt': [id, 'Arn'] };
  };

  it('finds functions that lost the property, and grants that close a cycle, by a queue, the bus and dead letters', () => {
    const faults = withChange((resources) => {
      for (const name of ['redeliver', 'dead-fan-outs', 'dead-publications', 'dispatch'])
        delete resources[functionNamed(synthesize(), name)[0]]?.Properties.RecursiveLoop;
      const sends = { Action: 'sqs:SendMessage' };
      grant(resources, 'check-source', { ...sends, Resource: queueOf(resources, 'BusCheckSourceQueue') });
      grant(resources, 'meter', { Action: 'events:PutEvents', Resource: queueOf(resources, 'BusEvents') });
      grant(resources, 'dead-delivery-messages', {
        ...sends,
        Resource: queueOf(resources, 'DeliveryFresh'),
      });
    });
    expect(faults.toSorted()).toEqual([
      'check-source would be stopped in BusCheckSourceQueue',
      'dead-delivery-messages would be stopped in DeliveryFresh → DeliveryDeadLetters',
      'dead-fan-outs would be stopped in DeliveryDeadFanOuts',
      'dead-publications would be stopped in BusDeadPublications',
      'dispatch would be stopped in DeliveryFresh',
      'meter would be stopped in BusEvents → BusMeterQueue',
      'redeliver would be stopped in BusRedeliverQueue',
    ]);
  });

  it('finds a property without a cycle, and one without a bound', () => {
    const faults = withChange((resources) => {
      for (const name of ['reconcile', 'redeliver']) {
        const [id] = functionNamed(synthesize(), name);
        const fn = resources[id];
        if (fn === undefined) throw new Error(`there is no ${id}`);
        fn.Properties.RecursiveLoop = 'Allow';
        Reflect.deleteProperty(fn, 'Metadata');
      }
    });
    expect(faults.sort()).toEqual([
      'reconcile allows a loop and is in none',
      'reconcile allows a loop that nothing ends',
      'redeliver allows a loop that nothing ends',
    ]);
  });
});
