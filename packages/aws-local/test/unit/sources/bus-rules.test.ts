import { describe, expect, it } from 'vitest';
import { LocalRunError } from '../../../src/errors.ts';
import { busRules } from '../../../src/sources/bus-rules.ts';
import { defineRules, startRules } from '../../../src/sources/rules.ts';
import { References } from '../../../src/template/references.ts';
import { parseTemplate, templateOf } from '../../../src/template/template.ts';

const QUEUE = 'arn:aws:sqs:us-east-1:000000000000:Work';

function rulesOf(properties: object) {
  const { resources, outputs } = parseTemplate({
    Resources: {
      Heard: {
        Type: 'AWS::Events::Rule',
        Properties: {
          EventPattern: { source: ['test'] },
          Targets: [{ Id: 'Target0', Arn: QUEUE }],
          ...properties,
        },
      },
    },
  });
  const template = templateOf('Test', resources, outputs);
  const references = new References('Test');
  defineRules(template, references);
  return { template, references, rules: () => busRules(template, references) };
}

describe('a rule with a pattern', () => {
  it('receives events of the bus that it names, or of the default bus', () => {
    const [named] = rulesOf({ EventBusName: 'Bus' }).rules();
    const [unnamed] = rulesOf({}).rules();
    expect(named).toMatchObject({
      bus: 'Bus',
      arn: 'arn:aws:events:us-east-1:000000000000:rule/Bus/Test-Heard',
    });
    expect(unnamed).toMatchObject({
      bus: 'default',
      arn: 'arn:aws:events:us-east-1:000000000000:rule/Test-Heard',
    });
  });

  it('matches an event by its envelope', () => {
    const [rule] = rulesOf({}).rules();
    expect(rule?.matches({ source: 'test', detail: {} })).toBe(true);
    expect(rule?.matches({ source: 'another', detail: {} })).toBe(false);
  });

  it('receives nothing while it is disabled', () => {
    expect(rulesOf({ State: 'DISABLED' }).rules()).toEqual([]);
  });

  it('may send to queues only', () => {
    const Arn = 'arn:aws:lambda:us-east-1:000000000000:function:Work';
    expect(rulesOf({ Targets: [{ Id: 'Target0', Arn }] }).rules).toThrow(
      new LocalRunError(
        `Heard: the local run does not know the target Target0 of a rule with a pattern, which is not a queue: ${Arn}`,
      ),
    );
  });

  it('is refused with an unsupported comparison', () => {
    expect(rulesOf({ EventPattern: { source: [{ wildcard: 't*t' }] } }).rules).toThrow(LocalRunError);
  });

  it('is not a schedule', () => {
    const { template, references } = rulesOf({});
    const functionOf = () => {
      throw new Error('nothing is to be invoked');
    };
    expect(startRules(template, references, functionOf, () => undefined)).toEqual([]);
  });
});
