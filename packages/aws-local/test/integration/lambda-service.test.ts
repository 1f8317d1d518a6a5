import { InvokeCommand, LambdaClient, ListEventSourceMappingsCommand } from '@aws-sdk/client-lambda';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { REGION } from '../../src/arns.ts';
import type { Engine } from '../../src/engines/engine.ts';
import { CREDENTIALS } from '../../src/engines/engines.ts';
import { LocalRunError } from '../../src/errors.ts';
import { type MappingState, startLambdaService } from '../../src/functions/lambda-service.ts';

const MAPPING: MappingState = {
  UUID: 'Mapping',
  EventSourceArn: 'arn:aws:sqs:us-east-1:000000000000:queue',
  FunctionArn: 'arn:aws:lambda:us-east-1:000000000000:function:greet',
  State: 'Disabled',
};

describe('the local Lambda', () => {
  let service: Engine | undefined;
  let client = new LambdaClient();

  beforeAll(async () => {
    service = await startLambdaService({
      functionOf(name) {
        if (name === 'fail')
          return { invoke: async () => ({ functionError: 'Unhandled', payload: { errorMessage: 'no' } }) };
        if (name !== 'greet') throw new LocalRunError(`The template has no function ${name}`);
        return { invoke: async (payload) => ({ payload: { hello: payload } }) };
      },
      mappings: () => [MAPPING],
    });
    client = new LambdaClient({ region: REGION, credentials: CREDENTIALS, endpoint: service.endpoint });
  });
  afterAll(async () => {
    client.destroy();
    await service?.stop();
  });

  const invoke = async (FunctionName: string) => {
    const { Payload, FunctionError } = await client.send(
      new InvokeCommand({ FunctionName, Payload: Buffer.from('"Ada"') }),
    );
    return { payload: JSON.parse(Buffer.from(Payload ?? []).toString()), FunctionError };
  };

  it('invokes a function and returns its result', async () => {
    expect(await invoke('greet')).toEqual({ payload: { hello: 'Ada' }, FunctionError: undefined });
  });

  it('reports the error of a function', async () => {
    expect(await invoke('fail')).toEqual({ payload: { errorMessage: 'no' }, FunctionError: 'Unhandled' });
  });

  it('reports a function that is not in the template as unknown', async () => {
    await expect(invoke('other')).rejects.toMatchObject({ name: 'ResourceNotFoundException' });
  });

  it('lists the mappings', async () => {
    const { EventSourceMappings } = await client.send(new ListEventSourceMappingsCommand({}));
    expect(EventSourceMappings).toEqual([MAPPING]);
  });
});
