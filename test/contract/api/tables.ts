import { brotliCompressSync } from 'node:zlib';
import { TransactionCanceledException } from '@aws-sdk/client-dynamodb';
import { GetSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import {
  BatchGetCommand,
  GetCommand,
  QueryCommand,
  TransactWriteCommand,
  type TransactWriteCommandInput,
  UpdateCommand,
} from '@aws-sdk/lib-dynamodb';
import { mockClient } from 'aws-sdk-client-mock';
import { type ChannelId, isChannelId, newId } from '../../../functions/aws/ids.ts';
import { NO_COUNTS } from '../../../functions/delivery/ledger.ts';
import { Scope } from '../../../functions/tenancy/api-keys.ts';
import { createSandbox } from '../../../functions/tenancy/organizations.ts';
import {
  aConversation,
  aDelivery,
  aKeyring,
  aMessage,
  anApiKey,
  anEndpoint,
  anEscalation,
  anEvent,
  anHttpChannel,
  anOrganization,
  aRedeliveryJob,
  aSource,
  aTicket,
  aWebWidget,
  NOW,
} from '../../builders.ts';
import { mockedDynamoDb } from '../../support/mocked-dynamodb.ts';

/** The organization that owns all items, and its sandbox. */
export const organization = anOrganization({ tier: 'scale' });
const { pairing, sandbox } = createSandbox(organization.id, NOW);

/** The channel of all conversations. */
const WIDGET = newId('chn', NOW);

/** A fault at the n-th call of the SDK, from 0. */
interface Fault {
  at: number;
  error: Error;
}

type Writes = NonNullable<TransactWriteCommandInput['TransactItems']>;

/** Deviations from the usual items. */
export interface State {
  /** The item of a key, where it is not the usual one. */
  item?(key: Key): { found: object | undefined } | undefined;
  /** Why each write of a transaction cancels it, if any does. */
  cancelled?(writes: Writes): string[] | undefined;
}

/**
 * Tables with an item for every key, behind the SDK's own clients: all reads find an item, all writes
 * succeed, and a fault can be set for each call.
 */
export function mockedTables() {
  const dynamo = mockedDynamoDb();
  const secrets = mockClient(SecretsManagerClient);
  let calls: string[] = [];
  let fault: Fault | undefined;
  let state: State = {};
  let committed: Writes[] = [];

  /** Counts the call, and throws where a fault is set. */
  const met = (name: string, table = ''): void => {
    calls.push(`${name} ${table}`);
    if (fault?.at === calls.length - 1) throw fault.error;
  };

  dynamo.rejects(new Error('no function has sent this command before'));
  dynamo.on(GetCommand).callsFake(({ TableName, Key }) => {
    met('Get', TableName);
    const other = state.item?.(Key);
    return { Item: other === undefined ? findItem(Key) : other.found };
  });
  dynamo.on(BatchGetCommand).callsFake(({ RequestItems }) => {
    const [[table = '', { Keys = [] } = {}] = []] = Object.entries<{ Keys?: Key[] }>(RequestItems);
    met('BatchGet', table);
    return { Responses: { [table]: Keys.map(FINDERS[table] ?? findLedgerEntry) } };
  });
  dynamo.on(QueryCommand).callsFake(({ TableName, ExpressionAttributeValues }) => {
    met('Query', TableName);
    const partition = String(Object.values(Object(ExpressionAttributeValues))[0]);
    return { Items: partition.endsWith('#versions') ? [IMPORTED_PART] : [] };
  });
  dynamo.on(UpdateCommand).callsFake(({ TableName, Key }) => {
    met('Update', TableName);
    return { Attributes: TableName === 'rates' ? { used: 1 } : findItem(Key) };
  });
  dynamo.on(TransactWriteCommand).callsFake(({ TransactItems }) => {
    met('TransactWrite');
    const codes = state.cancelled?.(TransactItems);
    if (codes === undefined) {
      committed.push(TransactItems);
      return {};
    }
    throw new TransactionCanceledException({
      message: 'cancelled',
      $metadata: {},
      CancellationReasons: codes.map((Code) => ({ Code })),
    });
  });
  secrets.on(GetSecretValueCommand).callsFake(() => ({ SecretString: JSON.stringify(aKeyring()) }));

  return {
    /**
     * Runs a function.
     * @returns its SDK calls, such as `Get service`
     */
    async callsOf(run: () => Promise<unknown>): Promise<string[]> {
      calls = [];
      await run();
      return calls;
    },
    async withFault<T>(given: Fault, run: () => Promise<T>): Promise<T> {
      calls = [];
      fault = given;
      return run().finally(() => {
        fault = undefined;
      });
    },
    /**
     * Runs a function on tables with deviations.
     * @returns the transactions that took effect
     */
    async withState<T>(given: State, run: () => Promise<T>): Promise<{ result: T; committed: Writes[] }> {
      state = { ...state, ...given };
      committed = [];
      const result = await run().finally(() => {
        state = {};
      });
      return { result, committed };
    },
  };
}

/** The reasons when the condition of one write of a transaction fails. */
export const failedAt =
  (failed: number) =>
  (writes: Writes): string[] =>
    writes.map((_, index) => (index === failed ? 'ConditionalCheckFailed' : 'None'));

interface Key {
  pk: string;
  sk: string;
}

/** The item of a key of the rates table that is not a window. */
const findKeyUse = ({ pk }: Pick<Key, 'pk'>): object => ({
  keyId: pk.split('#').at(-1),
  lastUsedAt: NOW.toISOString(),
});

/** The record of an event's redelivery, which succeeded. */
function findRedeliveryRecord({ pk }: Pick<Key, 'pk'>): object {
  const [, , webhookId, , eventId] = pk.split('#');
  const id = newId('dlv', NOW);
  return { pk, eventId, webhookId, deliveryId: id, succeededId: id };
}

/** Items of batch reads by table; the others are of the ledger. */
const FINDERS: Readonly<Record<string, (key: Key) => object | undefined>> = {
  rates: (key) => findKeyUse(key),
  // Rows of one read differ in their keys.
  service: (key) => ({ ...(findItem(key) ?? findRedeliveryRecord(key)), ...key }),
  deliveries: (key) => findItem(key),
};

/** The item of a key of the ledger: an hour and an endpoint. */
function findLedgerEntry({ pk, sk }: Key): object {
  const [hour = ''] = pk.split('#');
  const [webhookId = ''] = sk.split('#');
  return { webhookId, generation: 0, hour, ...NO_COUNTS, owed: 2, succeeded: 1 };
}

/** The version of a source's text, and its only part. */
const IMPORTED = { version: 1, parts: 1 };
const IMPORTED_PART = { text: brotliCompressSync('some text') };

/** The channel whose partition it is, if it is one's. */
export function findReceiver(pk: string): { webhookId?: ChannelId; eventType?: 'channel.message' } {
  const channel = pk.split('#').find(isChannelId);
  return channel === undefined ? {} : { webhookId: channel, eventType: 'channel.message' };
}

/** The item of a key. */
function findItem({ pk, sk = '' }: { pk: string; sk?: string }): object | undefined {
  const id = sk as never;
  const orgId = organization.id;
  if (pk.startsWith('key#')) return anApiKey({ orgId, scopes: [...Scope.options] });
  if (sk === 'organization') return pk === sandbox.id ? sandbox : organization;
  if (sk === 'sandbox') return pairing;
  if (sk === 'erasure')
    return {
      ...{ id: pk.split('#').at(-1), reason: 'conversation', conversationIds: [newId('cnv', NOW)] },
      requestedAt: NOW.toISOString(),
    };
  switch (sk.slice(0, 3)) {
    case 'key':
      return { ...anApiKey({ id, orgId }), digest: 'digest' };
    case 'whk':
      return anEndpoint({ id, orgId, events: ['conversation.created', 'ticket.created'] });
    case 'dlv':
      return aDelivery({
        id,
        orgId,
        ...findReceiver(pk),
        status: 'succeeded',
        terminalAt: NOW.toISOString(),
      });
    case 'cnv':
      return aConversation({ id, channelId: WIDGET });
    case 'chn':
      return id === WIDGET ? aWebWidget({ id, orgId }) : anHttpChannel({ id, orgId });
    case 'msg':
      return aMessage({ id });
    case 'esc':
      return anEscalation({ id });
    case 'tkt':
      return aTicket({ id });
    case 'src':
      return aSource({ id, orgId, stored: [IMPORTED], content: { ...IMPORTED, digest: '', words: 2 } });
    case 'evt':
      return { ...anEvent({ tenant: { orgId, generation: 0 } }), id };
    case 'rdj':
      return aRedeliveryJob({ id, orgId, ...findReceiver(pk) });
    default:
      return undefined;
  }
}
