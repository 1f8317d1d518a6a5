import { describe, expect, it } from 'vitest';
import { resourcesOf } from '../../lib/operate/outputs.ts';
import { ofType, synthesize } from './synthesize.ts';

const template = synthesize();
const outputs = template.toJSON().Outputs as Record<string, { Value: unknown }>;
const outputValues = new Set(Object.values(outputs).map(({ Value }) => JSON.stringify(Value)));

/** The command works with the outputs alone, so a missing one cannot be operated. */
describe("the operator's command", () => {
  it.each(['AWS::DynamoDB::GlobalTable', 'AWS::SQS::Queue', 'AWS::SecretsManager::Secret'])(
    'has the outputs of every %s',
    (type) => {
      const all = ofType(template, type).map(([id]) => id);
      expect(all.length).toBeGreaterThan(0);
      expect(all.filter((id) => !outputValues.has(JSON.stringify({ Ref: id })))).toEqual([]);
    },
  );

  it('finds the names that it uses in the outputs', () => {
    const { tables, queues, deadLetters, keys } = resourcesOf(
      Object.fromEntries(Object.keys(outputs).map((name) => [name, name])),
    );
    expect([...tables.keys()]).toEqual(
      expect.arrayContaining(['service', 'outbox', 'deliveries', 'knowledge']),
    );
    expect([...queues.keys()]).toEqual(expect.arrayContaining(['fresh', 'retry', 'slow', 'stalled']));
    expect([...keys.keys()].toSorted()).toEqual(['cursor', 'signing']);
    // A function processes these. The others wait for the operator, who can redrive them unless they come
    // from the bus itself.
    const processed = ['delivery', 'fan-outs', 'publications'];
    expect([...deadLetters.keys()]).toEqual(expect.arrayContaining(processed));
    const forPeople = [...deadLetters.keys()].filter((name) => !processed.includes(name));
    expect(forPeople.filter((name) => !queues.has(name))).toEqual(['unreadable']);
  });
});
