import { App, Stack } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import { expect, it } from 'vitest';
import { Tables } from '../../../lib/cloud/tables.ts';
import { KEY_DEFINITIONS } from '../../engines.ts';

it("the tables that the contracts run on have the keys of the stack's", () => {
  const stack = new Stack(new App(), 'Test');
  const tables = new Tables(stack, 'Tables');
  const { Resources } = Template.fromStack(stack).toJSON();

  for (const name of ['service', 'outbox', 'deliveries', 'rates'] as const) {
    const { Ref } = stack.resolve(tables[name].name);
    const { AttributeDefinitions, KeySchema, GlobalSecondaryIndexes } = Resources[Ref].Properties;
    expect({ AttributeDefinitions, KeySchema, GlobalSecondaryIndexes }).toEqual(KEY_DEFINITIONS[name]);
  }
});
