import {
  CreateQueueCommand,
  GetQueueAttributesCommand,
  GetQueueUrlCommand,
  SetQueueAttributesCommand,
  SQSClient,
} from '@aws-sdk/client-sqs';
import { mockClient } from 'aws-sdk-client-mock';
import { describe, expect, it } from 'vitest';
import { describeEngineError, reachEngine } from '../../src/engine-errors.ts';
import { dynoxideBinary } from '../../src/engines/dynoxide.ts';
import { provisionQueues } from '../../src/provision/queues.ts';
import { References } from '../../src/template/references.ts';
import { parseTemplate, templateOf } from '../../src/template/template.ts';

describe('the program of the embedded DynamoDB', () => {
  it('is the one that DYNOXIDE_BIN names', () => {
    expect(dynoxideBinary({ DYNOXIDE_BIN: process.execPath })).toBe(process.execPath);
  });

  it.each([
    [
      'DYNOXIDE_BIN names none',
      { DYNOXIDE_BIN: '/nowhere/dynoxide' },
      /^There is no program \/nowhere\/dynoxide/,
    ],
    ['the platform has no package', {}, /^No DynamoDB is installed for plan9-mips/],
  ])(
    'is missing when %s: one sentence names both ways out, with their commands',
    (_, environment, problem) => {
      const find = () => dynoxideBinary(environment, 'plan9-mips');
      expect(find).toThrow(problem);
      expect(find).toThrow(
        /^[^\n]+: set DYNOXIDE_BIN .*"cargo install [^"]+".*, or DYNAMODB_ENDPOINT .*"docker run [^\n]+"$/,
      );
    },
  );
});

const withCode = (code: string) => Object.assign(new Error(`connect ${code} 127.0.0.1:1`), { code });

describe('an engine that cannot be reached', () => {
  it('is named with its endpoint, and other errors pass unchanged', async () => {
    const reach = (error: Error) => reachEngine('SQS', 'http://localhost:1', () => Promise.reject(error));
    await expect(reach(withCode('ECONNREFUSED'))).rejects.toThrow(
      'SQS at http://localhost:1 cannot be reached: nothing listens there. Start the server, ' +
        'or check the host and port in the URL.',
    );
    const other = new RangeError('x');
    await expect(reach(other)).rejects.toBe(other);
  });

  it('is logged without its code', () => {
    expect(describeEngineError(withCode('ECONNRESET'))).not.toContain('ECONNRESET');
    expect(describeEngineError(new RangeError('x'))).toBe('RangeError: x');
  });
});

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
