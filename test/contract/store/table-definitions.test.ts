import { App, Stack } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import { expect, it } from 'vitest';
import { Tables } from '../../../lib/cloud/tables.ts';
import { TABLE_DEFINITIONS } from '../../engines.ts';

it("the tables that the contracts run on have the keys, indexes and streams of the stack's", () => {
  const stack = new Stack(new App(), 'Test');
  const tables = new Tables(stack, 'Tables');
  const { Resources } = Template.fromStack(stack).toJSON();

  for (const name of ['service', 'outbox', 'deliveries', 'rates', 'ledger'] as const) {
    const { Ref } = stack.resolve(tables[name].name);
    const { AttributeDefinitions, KeySchema, GlobalSecondaryIndexes, StreamSpecification } =
      Resources[Ref].Properties;
    // What a template asks for by naming a view, the API wants said.
    const stream = StreamSpecification && { StreamEnabled: true, ...StreamSpecification };
    expect({
      AttributeDefinitions,
      KeySchema,
      GlobalSecondaryIndexes,
      StreamSpecification: stream,
    }).toEqual(TABLE_DEFINITIONS[name]);
  }
});
