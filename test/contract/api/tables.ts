import { TransactionCanceledException } from '@aws-sdk/client-dynamodb';
import { GetSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import {
  BatchGetCommand,
  DynamoDBDocumentClient,
  GetCommand,
  QueryCommand,
  TransactWriteCommand,
  type TransactWriteCommandInput,
  UpdateCommand,
} from '@aws-sdk/lib-dynamodb';
import { mockClient } from 'aws-sdk-client-mock';
import { Scope } from '../../../functions/domain/api-key.ts';
import { newId } from '../../../functions/domain/ids.ts';
import { NO_COUNTS } from '../../../functions/domain/ledger.ts';
import { createSandbox } from '../../../functions/domain/sandbox.ts';
import {
  aConversation,
  aDelivery,
  aKeyring,
  aMessage,
  anApiKey,
  anEndpoint,
  anEscalation,
  anHttpChannel,
  anOrganization,
  aRedeliveryJob,
  aSource,
  aTicket,
  aWebWidget,
  NOW,
} from '../../builders.ts';

/** The organization that owns all there is, and its sandbox. */
export const organization = anOrganization({ tier: 'scale' });
export const { pairing, sandbox } = createSandbox(organization.id, NOW);

/** The channel that all conversations take place on. */
const WIDGET = newId('chn', NOW);

/** What a function meets at its n-th call of the SDK, from 0. */
export interface Fault {
  at: number;
  error: Error;
}

export type Writes = NonNullable<TransactWriteCommandInput['TransactItems']>;

/** What is other than usual in the tables. */
export interface State {
  /** What a key names, where it is not the usual thing. */
  item?(key: Key): { found: object | undefined } | undefined;
  /** Why each write of a transaction cancels it, when it does. */
  cancelled?(writes: Writes): string[] | undefined;
}

/**
 * Tables in which everything that is asked for exists, behind the SDK's own clients: what a function reads is
 * right, what it writes is taken, and a fault can be put at each of its calls.
 */
export function mockedTables() {
  const dynamo = mockClient(DynamoDBDocumentClient);
  const secrets = mockClient(SecretsManagerClient);
  let calls: string[] = [];
  let fault: Fault | undefined;
  let state: State = {};
  let committed: Writes[] = [];

  /** Counts the call, and fails where it is to. */
  const met = (name: string, table = ''): void => {
    calls.push(`${name} ${table}`);
    if (fault?.at === calls.length - 1) throw fault.error;
  };

  dynamo.on(GetCommand).callsFake(({ TableName, Key }) => {
    met('Get', TableName);
    const other = state.item?.(Key);
    return { Item: other === undefined ? itemOf(Key) : other.found };
  });
  dynamo.on(BatchGetCommand).callsFake(({ RequestItems }) => {
    const [[table = '', { Keys = [] } = {}] = []] = Object.entries<{ Keys?: Key[] }>(RequestItems);
    met('BatchGet', table);
    return { Responses: { [table]: Keys.map(table === 'rates' ? keyUseOf : ledgerEntryOf) } };
  });
  dynamo.on(QueryCommand).callsFake(({ TableName }) => {
    met('Query', TableName);
    return { Items: [] };
  });
  dynamo.on(UpdateCommand).callsFake(({ TableName, Key }) => {
    met('Update', TableName);
    return { Attributes: TableName === 'rates' ? { used: 1 } : itemOf(Key) };
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
    /** Runs something and gives the SDK calls that it made, as `Get service`. */
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
    /** Another request with the same key is always faster, and its answer is not there yet. */
    async withRace<T>(run: () => Promise<T>): Promise<T> {
      state = { cancelled: (writes) => failedFirst(writes) };
      return run().finally(() => {
        state = {};
      });
    },
    /** Runs something on tables that are other than usual, and gives the transactions that took effect. */
    async withState<T>(given: State, run: () => Promise<T>): Promise<{ result: T; committed: Writes[] }> {
      state = given;
      committed = [];
      const result = await run().finally(() => {
        state = {};
      });
      return { result, committed };
    },
  };
}

/** The reasons when the condition of a transaction's first write does not hold. */
export const failedFirst = (writes: Writes): string[] =>
  writes.map((_, index) => (index === 0 ? 'ConditionalCheckFailed' : 'None'));

interface Key {
  pk: string;
  sk: string;
}

/** What a key of the rates names that is not a window. */
const keyUseOf = ({ pk }: Pick<Key, 'pk'>): object => ({
  keyId: pk.split('#').at(-1),
  lastUsedAt: NOW.toISOString(),
});

/** What a key of the ledger names: an hour and an endpoint. */
function ledgerEntryOf({ pk, sk }: Key): object {
  const [hour = ''] = pk.split('#');
  const [webhookId = ''] = sk.split('#');
  return { webhookId, generation: 0, hour, ...NO_COUNTS, owed: 2, succeeded: 1 };
}

/** The thing that a key names. */
function itemOf({ pk, sk = '' }: { pk: string; sk?: string }): object | undefined {
  const id = sk as never;
  const orgId = organization.id;
  if (pk.startsWith('key#')) return anApiKey({ orgId, scopes: [...Scope.options] });
  if (sk === 'organization') return pk === sandbox.id ? sandbox : organization;
  if (sk === 'sandbox') return pairing;
  switch (sk.slice(0, 3)) {
    case 'key':
      return { ...anApiKey({ id, orgId }), digest: 'digest' };
    case 'whk':
      return anEndpoint({ id, orgId });
    case 'dlv':
      return aDelivery({ id, orgId, status: 'succeeded', terminalAt: NOW.toISOString() });
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
      return aSource({ id, orgId });
    case 'rdj':
      return aRedeliveryJob({ id, orgId });
    default:
      return undefined;
  }
}
