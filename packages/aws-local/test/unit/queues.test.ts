import {
  CreateQueueCommand,
  GetQueueAttributesCommand,
  GetQueueUrlCommand,
  SetQueueAttributesCommand,
  SQSClient,
} from '@aws-sdk/client-sqs';
import { mockClient } from 'aws-sdk-client-mock';
import { expect, it } from 'vitest';
import { provisionQueues } from '../../src/provision/queues.ts';
import { References } from '../../src/template/references.ts';
import { parseTemplate, templateOf } from '../../src/template/template.ts';

/** The redrive policy that the queue `Work` of a template gets when it has none. */
async function redrivePolicyOver(there: string | undefined): Promise<string | undefined> {
  const client = new SQSClient({ region: 'us-east-1' });
  const mock = mockClient(client);
  mock.on(GetQueueUrlCommand).resolves({ QueueUrl: 'http://127.0.0.1/000000000000/Work' });
  mock.on(CreateQueueCommand).rejects(new Error('the queue is there'));
  mock
    .on(GetQueueAttributesCommand)
    .resolves(there === undefined ? {} : { Attributes: { RedrivePolicy: there } });
  mock.on(SetQueueAttributesCommand).resolves({});
  const { resources, outputs } = parseTemplate({ Resources: { Work: { Type: 'AWS::SQS::Queue' } } });
  const template = templateOf('Test', resources, outputs);
  await provisionQueues(template, new References('Test'), client, 'http://127.0.0.1');
  const [call] = mock.commandCalls(SetQueueAttributesCommand);
  return call?.args[0].input.Attributes?.RedrivePolicy;
}

it.each([
  // ElasticMQ refuses an empty policy.
  ['sends no redrive policy to a queue without one', undefined, undefined],
  ['removes the redrive policy that the template no longer has', '{"maxReceiveCount":3}', ''],
])('provisioning a queue %s', async (_, there, expected) => {
  expect(await redrivePolicyOver(there)).toBe(expected);
});
