import { App } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import { Code } from 'aws-cdk-lib/aws-lambda';
import { expect, it } from 'vitest';
import { conversationService } from '../../../lib/cloud/service.ts';
import { readSettings } from '../../../lib/cloud/settings.ts';
import { TABLE_DEFINITIONS } from '../../engines.ts';
import { builtDashboard } from '../../support/built-dashboard.ts';

it("the tables of the contract tests have the keys, indexes and streams of the stack's", () => {
  const { data: stack } = conversationService(new App({ builtinCloudFormationValidation: false }), {
    settings: readSettings({ tryGetContext: (name: string) => (name === 'stage' ? 'prod' : undefined) }),
    code: () => Code.fromInline('exports.handler = async () => {};'),
    dashboard: builtDashboard(),
  });
  const { tables } = stack;
  const { Resources } = Template.fromStack(stack).toJSON();

  for (const name of ['service', 'outbox', 'deliveries', 'rates', 'ledger'] as const) {
    const { Ref } = stack.resolve(tables[name].name);
    const { AttributeDefinitions, KeySchema, GlobalSecondaryIndexes, StreamSpecification } =
      Resources[Ref].Properties;
    // A stream is implicit in a template that names a view type, and explicit in the API.
    const stream = StreamSpecification && { StreamEnabled: true, ...StreamSpecification };
    expect({
      AttributeDefinitions,
      KeySchema,
      GlobalSecondaryIndexes,
      StreamSpecification: stream,
    }).toEqual(TABLE_DEFINITIONS[name]);
  }
});
