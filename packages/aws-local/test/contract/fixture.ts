import { References } from '../../src/template/references.ts';
import { parseTemplate, type Template, templateOf } from '../../src/template/template.ts';

const queue = (properties: object = {}) => ({ Type: 'AWS::SQS::Queue', Properties: properties });

export const resources = {
  Events: {
    Type: 'AWS::DynamoDB::Table',
    Properties: {
      AttributeDefinitions: ['pk', 'sk', 'kind'].map((name) => ({ AttributeName: name, AttributeType: 'S' })),
      KeySchema: [
        { AttributeName: 'pk', KeyType: 'HASH' },
        { AttributeName: 'sk', KeyType: 'RANGE' },
      ],
      GlobalSecondaryIndexes: [
        {
          IndexName: 'by-kind',
          KeySchema: [{ AttributeName: 'kind', KeyType: 'HASH' }],
          Projection: { ProjectionType: 'ALL' },
        },
      ],
      StreamSpecification: { StreamViewType: 'NEW_AND_OLD_IMAGES' },
      TimeToLiveSpecification: { AttributeName: 'expiresAt', Enabled: true },
    },
  },
  Failed: queue(),
  Work: queue({
    VisibilityTimeout: 300,
    RedrivePolicy: { deadLetterTargetArn: { 'Fn::GetAtt': ['Failed', 'Arn'] }, maxReceiveCount: 2 },
  }),
  Ordered: queue({ FifoQueue: true, ContentBasedDeduplication: true }),
};

export const TABLE = 'Test-Events';

/** A small stack in memory, with some of its resources replaced. */
export function aTemplate(
  changes: object = {},
  stack = 'Test',
): { template: Template; references: References } {
  const { resources: parsed, outputs } = parseTemplate({ Resources: { ...resources, ...changes } });
  return { template: templateOf(stack, parsed, outputs), references: new References(stack) };
}
