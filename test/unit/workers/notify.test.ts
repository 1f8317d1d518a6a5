import 'aws-sdk-client-mock-vitest/extend';
import { CognitoIdentityProviderClient, ListUsersCommand } from '@aws-sdk/client-cognito-identity-provider';
import { SESv2Client, SendEmailCommand } from '@aws-sdk/client-sesv2';
import { GetCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { mockClient } from 'aws-sdk-client-mock';
import { beforeEach, describe, expect, it } from 'vitest';
import { MAIL, UNREADABLE_MESSAGES } from '../../../functions/aws/metrics.ts';
import type { BusEvent } from '../../../functions/events/bus.ts';
import { buildContentMailKey } from '../../../functions/notices/mailings.ts';
import { keys } from '../../../functions/tenancy/keys.ts';
import { handler } from '../../../functions/workers/notify.ts';
import { anEndpoint, anOrganization, aSource, aTenant, NOW } from '../../builders.ts';
import { FUNCTION_ENVIRONMENT } from '../../support/functions.ts';
import { mockedDynamoDb } from '../../support/mocked-dynamodb.ts';
import { capturedOutput, received, WITH_TIME } from './a-worker.ts';

const dynamo = mockedDynamoDb();
const cognito = mockClient(CognitoIdentityProviderClient);
const ses = mockClient(SESv2Client);

const tenant = aTenant();
const { orgId } = tenant;
const endpoint = anEndpoint({ orgId });
const source = aSource({ ...tenant, url: 'https://www.example.com/prices', name: 'Prices' });

const anEvent = (type: string, id: string, data: Record<string, unknown>): BusEvent => ({
  id,
  type,
  ...tenant,
  createdAt: NOW.toISOString(),
  data,
});
const disabling = anEvent('webhook.disabled', `${endpoint.id}#disabled`, {
  webhookId: endpoint.id,
  disabledAt: NOW.toISOString(),
  lastError: 'the receiver answered 500',
});
const change = anEvent('source.changed', `${source.id}#changed#2`, {
  sourceId: source.id,
  url: source.url,
  kind: source.kind,
  version: 2,
  difference: 50,
  added: 'new',
  removed: 'old',
});
const run = (...events: unknown[]) =>
  handler(received('notify', ...events.map((detail) => ({ detail }))), WITH_TIME);
const admin = {
  Enabled: true,
  UserStatus: 'CONFIRMED' as const,
  Attributes: Object.entries({
    email: 'ada@example.com',
    email_verified: 'true',
    'custom:organization': orgId,
    'custom:role': 'admin',
  }).map(([Name, Value]) => ({ Name, Value })),
};

beforeEach(() => {
  for (const mock of [dynamo, cognito, ses]) mock.reset();
  dynamo.on(GetCommand).resolves({});
  dynamo.on(UpdateCommand).resolves({});
  dynamo
    .on(GetCommand, { Key: keys.organization(orgId) })
    .resolves({ Item: { ...anOrganization({ id: orgId }), generation: 0 } });
  dynamo.on(GetCommand, { Key: keys.endpoint(orgId, endpoint.id) }).resolves({ Item: endpoint });
  dynamo.on(GetCommand, { Key: keys.source(tenant, source.id) }).resolves({ Item: source });
  cognito.on(ListUsersCommand).resolves({ Users: [admin] });
  ses.on(SendEmailCommand).resolves({ MessageId: 'message-1' });
});

describe('admin notification function', () => {
  it('sends an e-mail about a disabled endpoint from the sender address of the deployment', async () => {
    const output = capturedOutput();

    expect(await run(disabling)).toEqual({ batchItemFailures: [] });

    expect(ses).toHaveReceivedCommandExactlyOnceWith(SendEmailCommand, {
      FromEmailAddress: FUNCTION_ENVIRONMENT.MAIL_FROM,
      Destination: { ToAddresses: ['ada@example.com'] },
    });
    expect(dynamo).toHaveReceivedCommandWith(UpdateCommand, {
      TableName: FUNCTION_ENVIRONMENT.MAILINGS_TABLE,
      Key: keys.mailing(orgId, `mail#${disabling.id}`),
    });
    expect(output.metric(MAIL.sent)).toBe(1);
    expect(JSON.stringify(output.lines)).not.toContain('ada@');
  });

  it('sends an e-mail about changed content, and records the notified version at the source', async () => {
    expect(await run(change)).toEqual({ batchItemFailures: [] });

    const [{ args: [{ input }] = [{ input: undefined }] } = {}] = ses.commandCalls(SendEmailCommand);
    const { Subject, Body } = Object(input?.Content?.Simple);
    expect(Subject.Data).toBe('Content changed by 50%: Prices');
    expect(Body.Text.Data).toContain(`${FUNCTION_ENVIRONMENT.DASHBOARD_ORIGIN}/sources/${source.id}`);
    expect(dynamo).toHaveReceivedCommandWith(UpdateCommand, {
      TableName: FUNCTION_ENVIRONMENT.MAILINGS_TABLE,
      Key: keys.mailing(orgId, buildContentMailKey(source.url)),
    });
    expect(dynamo).toHaveReceivedCommandWith(UpdateCommand, {
      TableName: FUNCTION_ENVIRONMENT.KNOWLEDGE_TABLE,
      Key: keys.source(tenant, source.id),
    });
  });

  it('leaves refused and unreadable messages in the queue', async () => {
    const output = capturedOutput();
    ses.on(SendEmailCommand).rejects(Object.assign(new Error('no'), { $metadata: { httpStatusCode: 400 } }));

    const { batchItemFailures = [] } =
      (await run(disabling, { type: 'webhook.disabled' }, anEvent('message.received', 'evt', {}))) ?? {};

    expect(batchItemFailures.map(({ itemIdentifier }) => itemIdentifier).toSorted()).toEqual([
      'message-1',
      'message-2',
      'message-3',
    ]);

    expect(output.metric(MAIL.failed)).toBe(1);
    expect(output.metric(UNREADABLE_MESSAGES)).toBe(1);
  });

  it('processes an event although another of the batch fails', async () => {
    cognito
      .on(ListUsersCommand)
      .rejectsOnce(new Error('throttled'))
      .resolves({ Users: [admin] });

    const { batchItemFailures = [] } = (await run(disabling, change)) ?? {};

    expect(batchItemFailures).toHaveLength(1);
    expect(ses).toHaveReceivedCommandTimes(SendEmailCommand, 1);
  });

  it('sends nothing for a sandbox, and reads no admins', async () => {
    const sandbox = aTenant({ generation: 1 });
    dynamo.on(GetCommand, { Key: keys.organization(sandbox.orgId) }).resolves({
      Item: {
        ...anOrganization({ id: sandbox.orgId, environment: 'sandbox', tier: 'sandbox' }),
        generation: 1,
      },
    });

    expect(await run({ ...disabling, ...sandbox })).toEqual({ batchItemFailures: [] });

    expect(ses).not.toHaveReceivedAnyCommand();
    expect(cognito).not.toHaveReceivedAnyCommand();
    expect(dynamo).not.toHaveReceivedCommand(UpdateCommand);
  });
});
