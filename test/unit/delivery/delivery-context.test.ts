import 'aws-sdk-client-mock-vitest/extend';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { BatchGetCommand, type BatchGetCommandInput, GetCommand } from '@aws-sdk/lib-dynamodb';
import { beforeEach, describe, expect, it } from 'vitest';
import { newId } from '../../../functions/aws/ids.ts';
import type { DeliveryMessage } from '../../../functions/delivery/delivery.ts';
import { deliveryContexts } from '../../../functions/delivery/dispatch.ts';
import type { OutboxEvent } from '../../../functions/events/events.ts';
import type { Endpoint } from '../../../functions/receivers/endpoint.ts';
import { keys } from '../../../functions/tenancy/keys.ts';
import { anEndpoint, anEvent, aTenant, NOW } from '../../builders.ts';
import { mockedDynamoDb } from '../../support/mocked-dynamodb.ts';

const dynamo = mockedDynamoDb();
/** Errors of batch reads that DynamoDB refused. */
const refusals: unknown[] = [];
const client = new DynamoDBClient({});
const readContexts = deliveryContexts({ client, name: 'service' }, { client, name: 'outbox' }, (error) =>
  refusals.push(error),
);

type Request = NonNullable<BatchGetCommandInput['RequestItems']>;
type Row = Record<string, unknown>;

/** Rows of the two tables by their key. */
const rows = new Map<string, Row>();
const buildName = (table: string, key: object) => JSON.stringify([table, key]);

function hold(endpoint: Endpoint): Endpoint {
  const key = keys.endpoint(endpoint.orgId, endpoint.id);
  rows.set(buildName('service', key), { ...key, ...endpoint });
  return endpoint;
}
function holdEvent(event: OutboxEvent): OutboxEvent {
  const key = keys.event(event, event.id);
  rows.set(buildName('outbox', key), { ...key, ...event, expiresAt: 1 });
  return event;
}

/** The rows that a batch read returns. */
function found(request: Request): Record<string, Row[]> {
  return Object.fromEntries(
    Object.entries(request).map(([table, { Keys = [] }]) => [
      table,
      Keys.map((key) => rows.get(buildName(table, key))).filter((row) => row !== undefined),
    ]),
  );
}

/** A stored endpoint, a stored event, and the reference to both. */
function aPair() {
  const tenant = aTenant();
  const endpoint = hold(anEndpoint({ orgId: tenant.orgId }));
  const event = holdEvent(anEvent({ tenant }));
  const ref = { ...tenant, id: newId('dlv', NOW), webhookId: endpoint.id, eventId: event.id };
  return { endpoint, event, ref };
}

const batchRequests = () =>
  dynamo.commandCalls(BatchGetCommand).map((call) => call.args[0].input.RequestItems ?? {});

beforeEach(() => {
  rows.clear();
  refusals.length = 0;
  dynamo.reset();
  dynamo.on(BatchGetCommand).callsFake(({ RequestItems }: { RequestItems: Request }) => ({
    Responses: found(RequestItems),
  }));
  dynamo.on(GetCommand).callsFake(({ TableName, Key }: { TableName: string; Key: object }) => ({
    Item: rows.get(buildName(TableName, Key)),
  }));
});

describe('contexts of a batch of deliveries', () => {
  it('have the endpoint and the event of each delivery, read in one request', async () => {
    const pairs = Array.from({ length: 10 }, aPair);
    const getContext = await readContexts(pairs.map((pair) => pair.ref));
    for (const { ref, endpoint, event } of pairs) expect(getContext(ref)).toEqual({ endpoint, event });
    expect(dynamo).toHaveReceivedCommandTimes(BatchGetCommand, 1);
    expect(dynamo).not.toHaveReceivedCommand(GetCommand);
  });

  it('are read once when several deliveries share them', async () => {
    const { ref } = aPair();
    await readContexts([ref, ref, { ...ref }]);
    const [request] = batchRequests();
    expect(request?.service?.Keys).toHaveLength(1);
    expect(request?.outbox?.Keys).toHaveLength(1);
  });

  it('need no request without deliveries', async () => {
    const getContext = await readContexts([]);
    expect(dynamo).not.toHaveReceivedAnyCommand();
    expect(getContext(aPair().ref)).toEqual({ endpoint: undefined, event: undefined });
  });
});

describe('unprocessed keys of a batch read', () => {
  it('fail their deliveries when they stay unprocessed, and are not read again one by one', async () => {
    const pairs = Array.from({ length: 10 }, aPair);
    dynamo
      .on(BatchGetCommand)
      .callsFake(({ RequestItems }: { RequestItems: Request }) => ({ UnprocessedKeys: RequestItems }));
    const getContext = await readContexts(pairs.map((pair) => pair.ref));
    for (const { ref } of pairs)
      expect(() => getContext(ref)).toThrow(expect.objectContaining({ name: 'ThrottlingException' }));
    expect(dynamo).not.toHaveReceivedCommand(GetCommand);
  });
});

it.each(['ThrottlingException', 'ProvisionedThroughputExceededException', 'TimeoutError'])(
  'a batch read that fails with %s fails as a whole, without further reads',
  async (name) => {
    const pairs = Array.from({ length: 10 }, aPair);
    dynamo.on(BatchGetCommand).rejects(Object.assign(new Error('not now'), { name }));
    await expect(readContexts(pairs.map(({ ref }) => ref))).rejects.toThrow('not now');
    expect(dynamo).not.toHaveReceivedCommand(GetCommand);
  },
);

describe('item that a batch read does not find', () => {
  it("is undefined for an endpoint of another organization than the message's", async () => {
    const { ref } = aPair();
    const foreign = { ...ref, orgId: newId('org', NOW) };
    const getContext = await readContexts([foreign]);
    expect(getContext(foreign)).toEqual({ endpoint: undefined, event: undefined });
  });
});

describe('row in a batch read that', () => {
  const TABLES = {
    service: (ref: DeliveryMessage) => ({ ...keys.endpoint(ref.orgId, ref.webhookId) }),
    outbox: (ref: DeliveryMessage) => ({ ...keys.event(ref, ref.eventId) }),
  };
  const NAMES = ['service', 'outbox'] as const;
  const refused = Object.assign(new Error('refused'), { name: 'ValidationException' });
  type Breaks = (table: 'service' | 'outbox', key: Row) => void;

  /** Makes single reads of a row fail. */
  const refuseGet: Breaks = (table, key) =>
    dynamo.on(GetCommand).callsFake(({ TableName, Key }: { TableName: string; Key: object }) => {
      if (buildName(TableName, Key) === buildName(table, key)) throw refused;
      return { Item: rows.get(buildName(TableName, Key)) };
    });

  it.each<[string, Breaks, object]>([
    [
      'is unreadable',
      (table, key) => rows.set(buildName(table, key), { ...key }),
      { name: expect.stringContaining('Zod') },
    ],
    [
      'is refused together with its whole request',
      (table, key) => {
        dynamo.on(BatchGetCommand).rejects(refused);
        refuseGet(table, key);
      },
      refused,
    ],
    [
      'stays unprocessed',
      (table, key) => {
        dynamo.on(BatchGetCommand).callsFake(({ RequestItems }: { RequestItems: Request }) => {
          const answer = found(RequestItems);
          const rest = answer[table]?.filter((row) => !Object.keys(key).every((of) => row[of] === key[of]));
          return {
            Responses: { ...answer, [table]: rest },
            UnprocessedKeys: { [table]: { Keys: [key] } },
          };
        });
      },
      { name: 'ThrottlingException' },
    ],
  ])('%s fails the deliveries that need it, and no other', async (_what, breaks, error) => {
    for (const table of NAMES) {
      const pairs = Array.from({ length: 10 }, aPair);
      const [broken, ...others] = pairs;
      if (broken === undefined) throw new Error('ten pairs expected');
      breaks(table, TABLES[table](broken.ref));

      const getContext = await readContexts(pairs.map(({ ref }) => ref));

      expect(() => getContext(broken.ref)).toThrow(expect.objectContaining(error));
      for (const { ref, endpoint, event } of others) expect(getContext(ref)).toEqual({ endpoint, event });
    }
  });
});
