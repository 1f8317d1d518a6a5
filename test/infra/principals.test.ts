import { Template } from 'aws-cdk-lib/assertions';
import { describe, expect, it } from 'vitest';
import { casesOf } from '../support/cases.ts';
import { BARE, EVERYTHING, STAGES, type TestContext } from './contexts.ts';
import { refusedEdges } from './service-edges.ts';
import { type SynthesizedResource, synthesize } from './synthesize.ts';

it.each<[string, TestContext]>([
  ['prod with everything on', EVERYTHING],
  ['staging', { stage: 'staging' }],
  ['dev', { stage: 'dev' }],
  ...casesOf<[string, TestContext][]>(
    [],
    STAGES.flatMap((stage): [string, TestContext][] => [
      [`${stage} with everything on`, { stage, ...EVERYTHING }],
      [`${stage} without a firewall`, { stage }],
      [`${stage} with nothing on`, { stage, ...BARE }],
    ]),
  ),
])('services of AWS may do everything that the template requires, in %s', (_, context) => {
  expect(refusedEdges(synthesize(context))).toEqual([]);
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

  it('finds a topic and a key that CloudWatch may not use, for each alarm', () => {
    const faults = findAfter((resources) => {
      forget(find(resources, 'AlarmsTopicPolicy', 'AWS::SNS::TopicPolicy')[1], 'cloudwatch');
      forget(find(resources, 'Key', 'AWS::KMS::Key')[1], 'cloudwatch');
    });
    const said = faults.flatMap(
      (fault) => fault.split(': cloudwatch.amazonaws.com may not perform ')[1] ?? [],
    );
    expect(said.length).toBeGreaterThan(150);
    expect(new Set(said)).toEqual(
      new Set([
        'sns:Publish on AlarmsTopic',
        'kms:GenerateDataKey on the key of AlarmsTopic',
        'kms:Decrypt on the key of AlarmsTopic',
      ]),
    );
  });

  it('finds queues without a policy, a rule of another bus, a function without a permission, and roles', () => {
    const faults = findAfter((resources) => {
      for (const queue of ['BusUnreadable', 'BusNotifyQueue', 'BusNotifyDeadLetters'])
        delete resources[find(resources, `${queue}Policy`, 'AWS::SQS::QueuePolicy')[0]];
      find(resources, 'MeteringMeterRule', 'AWS::Events::Rule')[1].Properties.EventBusName = 'default';
      delete resources[find(resources, 'RecoveryReconcileSchedule', 'AWS::Lambda::Permission')[0]];
      find(resources, 'MeteringMeterFunctionRole', 'AWS::IAM::Role')[1].Properties.AssumeRolePolicyDocument =
        { Statement: [] };
      const [, role] = find(resources, 'ApiInvoker', 'AWS::IAM::Role');
      const [{ PolicyDocument }] = role.Properties.Policies as [
        { PolicyDocument: { Statement: [{ Resource: unknown[] }] } },
      ];
      const [statement] = PolicyDocument.Statement;
      statement.Resource = statement.Resource.filter((arn) => !JSON.stringify(arn).includes('create-ticket'));
    });
    expect(faults.toSorted()).toEqual([
      'ApiRestv1ticketsPOST: its role does not allow lambda:InvokeFunction on ApiCreateTicket',
      'BusEvents: events.amazonaws.com may not perform sqs:SendMessage on BusUnreadable',
      'MailNotifyRule: events.amazonaws.com may not perform sqs:SendMessage on BusNotifyDeadLetters',
      'MailNotifyRule: events.amazonaws.com may not perform sqs:SendMessage on BusNotifyQueue',
      'MeteringMeterFunction: lambda.amazonaws.com may not assume its role',
      'MeteringMeterRule: events.amazonaws.com may not perform sqs:SendMessage on BusMeterDeadLetters',
      'MeteringMeterRule: events.amazonaws.com may not perform sqs:SendMessage on BusMeterQueue',
      'RecoveryReconcileSchedule: events.amazonaws.com may not perform lambda:InvokeFunction on RecoveryReconcile',
    ]);
  });

  it('finds a log group whose key serves another account, a shared key, a bucket and a gateway without access', () => {
    const faults = findAfter((resources) => {
      for (const statement of statementsOf(find(resources, 'Key', 'AWS::KMS::Key')[1]))
        if (statement.Condition)
          statement.Condition = { ArnLike: { 'kms:EncryptionContext:aws:logs:arn': 'arn:aws:logs:*:1:*' } };
      forget(find(resources, 'SiteFilesPolicy', 'AWS::S3::BucketPolicy')[1], 'cloudfront');
      const [, bus] = find(resources, 'BusEvents', 'AWS::Events::EventBus');
      find(resources, 'BusUnreadable', 'AWS::SQS::Queue')[1].Properties.KmsMasterKeyId =
        bus.Properties.KmsKeyIdentifier;
      find(resources, 'ApiInvoker', 'AWS::IAM::Role')[1].Properties.AssumeRolePolicyDocument = {
        Statement: [],
      };
    });
    expect(faults).toEqual(
      expect.arrayContaining([
        'SiteDistribution: cloudfront.amazonaws.com may not perform s3:GetObject on SiteFiles',
        expect.stringMatching(/Logs: logs.us-east-1.amazonaws.com may not perform kms:Encrypt on its key/),
        'BusEvents: its dead-letter queue BusUnreadable needs the key whose failure it is for',
        'ApiRestv1webhooksPOST: apigateway.amazonaws.com may not assume its role',
      ]),
    );
  });
});
