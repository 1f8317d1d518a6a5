import { Template } from 'aws-cdk-lib/assertions';
import { describe, expect, it } from 'vitest';
import { casesOf } from '../support/cases.ts';
import { BARE, EVERYTHING, STAGES, type TestContext } from './contexts.ts';
import { refusedEdges } from './service-edges.ts';
import { type SynthesizedResource, synthesize } from './synthesize.ts';

describe.each(STAGES)('services of AWS in stage %s', (stage) => {
  it.each<[string, TestContext]>([
    ['everything on', EVERYTHING],
    ...casesOf<[string, TestContext][]>([['no firewall', {}]], [['nothing on', BARE]]),
  ])('may do everything that the template requires, with %s', (_, context) => {
    expect(refusedEdges(synthesize({ stage, ...context }))).toEqual([]);
  });
});

describe('the check of services', () => {
  type Resources = Record<string, SynthesizedResource>;
  const find = (resources: Resources, beginning: string, type: string): [string, SynthesizedResource] => {
    const faults = Object.entries(resources).find(
      ([id, { Type }]) => id.startsWith(beginning) && Type === type,
    );
    if (faults === undefined) throw new Error(`there is no ${type} ${beginning}`);
    return faults;
  };
  const statementsOf = ({ Properties: { PolicyDocument, KeyPolicy } }: SynthesizedResource) =>
    Object(PolicyDocument ?? KeyPolicy).Statement as {
      Effect: string;
      Principal: unknown;
      Condition?: object;
    }[];

  /** The findings after a change of the template. */
  function findAfter(change: (resources: Resources) => void): string[] {
    const content: { Resources: Resources } = Object(structuredClone(synthesize(EVERYTHING).toJSON()));
    change(content.Resources);
    return refusedEdges(Template.fromJSON(content)).map((found) => found.replaceAll(/[0-9A-F]{8}\b/g, ''));
  }

  /** Removes the statements that allow something to a service. */
  const forget = (policy: SynthesizedResource, service: string): void => {
    for (const statement of statementsOf(policy))
      if (statement.Effect === 'Allow' && JSON.stringify(statement.Principal).includes(service))
        statement.Principal = { Service: 'nobody.amazonaws.com' };
  };

  it('finds an alarm topic that CloudWatch may not publish to', () => {
    const faults = findAfter((resources) =>
      forget(find(resources, 'AlarmsTopicPolicy', 'AWS::SNS::TopicPolicy')[1], 'cloudwatch'),
    );
    expect(faults.length).toBeGreaterThan(50);
    for (const fault of faults)
      expect(fault).toMatch(/: cloudwatch.amazonaws.com may not perform sns:Publish on AlarmsTopic$/);
  });

  it('finds a key that CloudWatch may not use', () => {
    const faults = findAfter((resources) => forget(find(resources, 'Key', 'AWS::KMS::Key')[1], 'cloudwatch'));
    expect(faults).toContainEqual(
      expect.stringMatching(
        /cloudwatch.amazonaws.com may not perform kms:GenerateDataKey on the key of AlarmsTopic/,
      ),
    );
  });

  it.each([
    ['BusUnreadable', 'BusEvents'],
    ['BusMeterQueue', 'MeteringMeterRule'],
    ['BusMeterDeadLetters', 'MeteringMeterRule'],
  ])('finds that %s has no policy for EventBridge', (queue, source) => {
    const faults = findAfter((resources) => {
      const [id] = find(resources, `${queue}Policy`, 'AWS::SQS::QueuePolicy');
      delete resources[id];
    });
    expect(faults).toEqual([`${source}: events.amazonaws.com may not perform sqs:SendMessage on ${queue}`]);
  });

  it('finds a rule of another bus, which the policy of the queue does not name', () => {
    const faults = findAfter((resources) => {
      find(resources, 'MeteringMeterRule', 'AWS::Events::Rule')[1].Properties.EventBusName = 'default';
    });
    expect(faults).toEqual([
      'MeteringMeterRule: events.amazonaws.com may not perform sqs:SendMessage on BusMeterQueue',
      'MeteringMeterRule: events.amazonaws.com may not perform sqs:SendMessage on BusMeterDeadLetters',
    ]);
  });

  it('finds that the dead-letter queue of the bus needs the key of the bus', () => {
    const faults = findAfter((resources) => {
      const [, bus] = find(resources, 'BusEvents', 'AWS::Events::EventBus');
      find(resources, 'BusUnreadable', 'AWS::SQS::Queue')[1].Properties.KmsMasterKeyId =
        bus.Properties.KmsKeyIdentifier;
    });
    expect(faults).toEqual([
      'BusEvents: its dead-letter queue BusUnreadable needs the key whose failure it is for',
    ]);
  });

  it('finds a function that a schedule may not invoke', () => {
    const faults = findAfter((resources) => {
      delete resources[find(resources, 'RecoveryReconcileSchedule', 'AWS::Lambda::Permission')[0]];
    });
    expect(faults).toEqual([
      'RecoveryReconcileSchedule: events.amazonaws.com may not perform lambda:InvokeFunction on RecoveryReconcile',
    ]);
  });

  it('finds a log group whose key serves another account, and a distribution without access to its bucket', () => {
    const faults = findAfter((resources) => {
      for (const statement of statementsOf(find(resources, 'Key', 'AWS::KMS::Key')[1]))
        if (statement.Condition)
          statement.Condition = { ArnLike: { 'kms:EncryptionContext:aws:logs:arn': 'arn:aws:logs:*:1:*' } };
      forget(find(resources, 'SiteFilesPolicy', 'AWS::S3::BucketPolicy')[1], 'cloudfront');
    });
    expect(faults).toContain(
      'SiteDistribution: cloudfront.amazonaws.com may not perform s3:GetObject on SiteFiles',
    );
    expect(faults).toContainEqual(
      expect.stringMatching(/Logs: logs.us-east-1.amazonaws.com may not perform kms:Encrypt on its key/),
    );
  });

  it('finds a gateway role that lacks a function, and one that the gateway may not assume', () => {
    const faults = findAfter((resources) => {
      const [, role] = find(resources, 'ApiInvoker', 'AWS::IAM::Role');
      const [{ PolicyDocument }] = role.Properties.Policies as [
        { PolicyDocument: { Statement: [{ Resource: unknown[] }] } },
      ];
      const [statement] = PolicyDocument.Statement;
      statement.Resource = statement.Resource.filter((arn) => !JSON.stringify(arn).includes('create-ticket'));
    });
    expect(faults).toEqual([
      'ApiRestv1ticketsPOST: its role does not allow lambda:InvokeFunction on ApiCreateTicket',
    ]);
    const untrusted = findAfter((resources) => {
      const [, role] = find(resources, 'ApiInvoker', 'AWS::IAM::Role');
      role.Properties.AssumeRolePolicyDocument = { Statement: [] };
    });
    expect(untrusted).toContain('ApiRestv1webhooksPOST: apigateway.amazonaws.com may not assume its role');
  });

  it('finds a role that its service may not assume', () => {
    const faults = findAfter((resources) => {
      const [, role] = find(resources, 'MeteringMeterFunctionRole', 'AWS::IAM::Role');
      role.Properties.AssumeRolePolicyDocument = { Statement: [] };
    });
    expect(faults).toEqual(['MeteringMeterFunction: lambda.amazonaws.com may not assume its role']);
  });
});
