import { GetSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import {
  ChangeMessageVisibilityCommand,
  GetQueueAttributesCommand,
  SendMessageBatchCommand,
  SQSClient,
} from '@aws-sdk/client-sqs';
import {
  BatchGetCommand,
  GetCommand,
  PutCommand,
  QueryCommand,
  TransactWriteCommand,
  UpdateCommand,
} from '@aws-sdk/lib-dynamodb';
import { mockClient } from 'aws-sdk-client-mock';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { type Delivery, toDeliveryMessage } from '../../../functions/delivery/delivery.ts';
import type { Endpoint } from '../../../functions/receivers/endpoint.ts';
import { keys } from '../../../functions/tenancy/keys.ts';
import { aDelivery, aKeyring, anEndpoint, anEvent, anOrganization, aTenant } from '../../builders.ts';
import { memoryTables } from '../../doubles/tables/stack-tables.ts';
import { FUNCTION_ENVIRONMENT } from '../../support/functions.ts';
import { mockedDynamoDb } from '../../support/mocked-dynamodb.ts';
import { capturedOutput, received, WITH_TIME } from './a-worker.ts';

const dynamo = mockedDynamoDb();
const sqs = mockClient(SQSClient);
const secrets = mockClient(SecretsManagerClient);
const TABLE_COMMANDS = [
  BatchGetCommand,
  GetCommand,
  PutCommand,
  QueryCommand,
  TransactWriteCommand,
  UpdateCommand,
];

/** Requests that reached the socket, or the simulated receiver in its place. */
let requests = 0;
const OUTBOUND = '../../../functions/delivery/outbound/client.ts';
const SENDER = '../../../functions/delivery/webhook-sender.ts';
beforeAll(() => {
  vi.doMock(OUTBOUND, () => ({
    receiverClient: () => ({
      async post() {
        requests += 1;
        return { kind: 'answered', status: 204, durationMs: 1, body: '' };
      },
    }),
  }));
  vi.doMock(SENDER, async (importOriginal) => {
    const original = await importOriginal<typeof import('../../../functions/delivery/webhook-sender.ts')>();
    const simulatedReceiver: typeof original.simulatedReceiver = (terms) => {
      const receiver = original.simulatedReceiver(terms);
      return {
        async post(...request) {
          requests += 1;
          return receiver.post(...request);
        },
      };
    };
    return { ...original, simulatedReceiver };
  });
});
// Other files share the modules.
afterAll(() => {
  vi.doUnmock(OUTBOUND);
  vi.doUnmock(SENDER);
  vi.resetModules();
});

beforeEach(() => {
  capturedOutput();
  requests = 0;
});

/**
 * The dispatcher function, newly loaded, over tables in memory, with one delivery. `calls` names the calls of
 * its dependencies; `fails` chooses those that fail, before they take effect.
 */
async function aFunction({
  endpoint: changes = {},
  keyring = aKeyring(),
  isSandbox = false,
  fails = () => false,
}: {
  endpoint?: Partial<Endpoint>;
  keyring?: ReturnType<typeof aKeyring>;
  isSandbox?: boolean;
  fails?: (call: number) => boolean;
} = {}) {
  vi.resetModules();
  const { handler } = await import('../../../functions/workers/dispatch.ts');
  const tables = memoryTables();
  const calls: string[] = [];
  const call = <T>(name: string, answer: () => T | Promise<T>) => {
    calls.push(name);
    if (fails(calls.length - 1))
      throw Object.assign(new Error('it throttles'), { name: 'ThrottlingException' });
    return answer();
  };
  for (const Command of TABLE_COMMANDS)
    dynamo
      .on(Command as typeof GetCommand)
      .callsFake((input) =>
        call(Command.name, () => tables.service.client.send(new (Command as typeof GetCommand)(input))),
      );
  secrets
    .on(GetSecretValueCommand)
    .callsFake(() => call('GetSecretValue', () => ({ SecretString: JSON.stringify(keyring) })));
  sqs.on(SendMessageBatchCommand).callsFake(() => call('SendMessageBatch', () => ({})));
  sqs.on(ChangeMessageVisibilityCommand).callsFake(() => call('ChangeMessageVisibility', () => ({})));
  sqs.on(GetQueueAttributesCommand).callsFake(() => call('GetQueueAttributes', () => ({ Attributes: {} })));

  const tenant = aTenant({ generation: isSandbox ? 1 : 0 });
  const endpoint = anEndpoint({ orgId: tenant.orgId, ...changes });
  const event = anEvent({ tenant });
  const delivery = aDelivery({ ...tenant, webhookId: endpoint.id, eventId: event.id });
  const organization = anOrganization({ id: tenant.orgId, environment: isSandbox ? 'sandbox' : 'live' });
  const put = (TableName: string, Item: Record<string, unknown>) =>
    tables.service.client.send(new PutCommand({ TableName, Item }));
  await put(FUNCTION_ENVIRONMENT.SERVICE_TABLE, {
    ...keys.organization(tenant.orgId),
    ...organization,
    ...tenant,
  });
  await put(FUNCTION_ENVIRONMENT.SERVICE_TABLE, { ...keys.endpoint(tenant.orgId, endpoint.id), ...endpoint });
  await put(FUNCTION_ENVIRONMENT.OUTBOX_TABLE, { ...keys.event(event, event.id), ...event });
  const key = keys.delivery(endpoint.id, delivery.generation, delivery.id);
  await put(FUNCTION_ENVIRONMENT.DELIVERIES_TABLE, { ...key, ...delivery });
  return {
    calls,
    receive: () => handler(received('fresh', toDeliveryMessage(delivery)), WITH_TIME),
    async readDelivery(): Promise<Delivery> {
      const get = new GetCommand({ TableName: FUNCTION_ENVIRONMENT.DELIVERIES_TABLE, Key: key });
      return (await tables.service.client.send(get)).Item as Delivery;
    },
  };
}

type Setting = Omit<NonNullable<Parameters<typeof aFunction>[0]>, 'fails'>;
const KINDS: [name: string, setting: Setting][] = [
  ['an endpoint', {}],
  ['an endpoint with a limit', { endpoint: { maxPerSecond: 100 } }],
  ['an endpoint that has failed before', { endpoint: { consecutiveFailures: 9 } }],
  ['a simulated receiver', { isSandbox: true }],
];

describe.each(KINDS)('attempt at %s', (_, setting) => {
  it('counts only with a request, whichever call of the function fails', async () => {
    const whole = await aFunction(setting);
    await whole.receive();
    expect(await whole.readDelivery()).toMatchObject({ status: 'succeeded', attempts: 1 });
    expect(requests).toBe(1);

    for (const [index, name] of whole.calls.entries()) {
      requests = 0;
      let isFailing = true;
      const { receive, readDelivery } = await aFunction({
        ...setting,
        fails: (call) => isFailing && call === index,
      });
      await receive();
      const { attempts } = await readDelivery();
      expect([name, attempts]).toEqual([name, requests]);

      isFailing = false;
      if (attempts === 0) await receive();
      if (attempts === 0) expect(await readDelivery()).toMatchObject({ status: 'succeeded', attempts: 1 });
    }
  });
});

it('an attempt at an endpoint whose key version is missing does not count, and nothing is sent', async () => {
  const { receive, readDelivery } = await aFunction({ endpoint: { keyVersion: '7' } });
  for (let time = 0; time < 9; time += 1) {
    expect(await receive()).toEqual({ batchItemFailures: [{ itemIdentifier: 'message-1' }] });
    expect(await readDelivery()).toMatchObject({ status: 'pending', attempts: 0 });
  }
  expect(requests).toBe(0);
});
