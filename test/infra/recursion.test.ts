import { Template } from 'aws-cdk-lib/assertions';
import { describe, expect, it } from 'vitest';
import { EVERYTHING, STAGES } from './contexts.ts';
import { findCycle, readFlow } from './flow.ts';
import { nameOf, ourFunctions } from './reading.ts';
import { functionNamed, type SynthesizedResource, synthesize } from './synthesize.ts';

/*
 * Lambda stops a function after some 16 invocations in one chain of messages through SQS, SNS, S3 and Lambda,
 * unless RecursiveLoop is Allow (Lambda Developer Guide, "Use Lambda recursive loop detection to prevent
 * infinite loops").
 */

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

  it.each(['redeliver', 'dead-fan-outs', 'dead-publications', 'dispatch'])(
    'finds that %s lost the property',
    (name) => {
      const faults = withChange((resources) => {
        const [id] = functionNamed(synthesize(), name);
        delete resources[id]?.Properties.RecursiveLoop;
      });
      expect(faults).toEqual([expect.stringMatching(new RegExp(`^${name} would be stopped in `))]);
    },
  );

  it('finds a grant that closes a cycle', () => {
    const faults = withChange((resources) =>
      grant(resources, 'check-source', {
        Action: 'sqs:SendMessage',
        Resource: queueOf(resources, 'BusCheckSourceQueue'),
      }),
    );
    expect(faults).toEqual(['check-source would be stopped in BusCheckSourceQueue']);
  });

  it('finds a cycle through the bus and its rules', () => {
    const faults = withChange((resources) =>
      grant(resources, 'meter', { Action: 'events:PutEvents', Resource: queueOf(resources, 'BusEvents') }),
    );
    expect(faults).toEqual(['meter would be stopped in BusEvents → BusMeterQueue']);
  });

  it('finds a cycle through a dead-letter queue', () => {
    const faults = withChange((resources) =>
      grant(resources, 'dead-delivery-messages', {
        Action: 'sqs:SendMessage',
        Resource: queueOf(resources, 'DeliveryFresh'),
      }),
    );
    expect(faults).toEqual([
      'dead-delivery-messages would be stopped in DeliveryFresh → DeliveryDeadLetters',
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
