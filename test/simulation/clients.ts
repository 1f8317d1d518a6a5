import {
  type DynamoDBClient,
  TransactionCanceledException,
  TransactionConflictException,
} from '@aws-sdk/client-dynamodb';
import type { SQSClient } from '@aws-sdk/client-sqs';
import type { OrgId } from '../../functions/aws/ids.ts';
import { CROWDED_IN_FLIGHT, LANES, type Lane } from '../../functions/delivery/lanes.ts';
import { DUE_INDEX } from '../../functions/tenancy/keys.ts';
import { OF_SANDBOX_INDEX } from '../../functions/tenancy/purge.ts';
import type { Row } from '../doubles/tables/expressions.ts';
import type { Input } from '../doubles/tables/input.ts';
import { pass } from './calls.ts';
import { forever, type Process } from './processes.ts';
import type { World } from './world.ts';

/** URL of the queue for rounds of redelivery jobs; that of a delivery queue is the name of its lane. */
export const ROUNDS = 'rounds';

/** How often all tries of a transaction that conflicts once conflict. */
const CONTENDED = 0.5;
/** How often a write of one row conflicts where a transaction would. */
const CONTENDED_ALONE = 0.1;
/** How often a read of a batch leaves out a part. */
const LEFT_OUT = 0.3;

const WRITES = new Set(['Put', 'Update', 'Delete']);

/** The failure of a write that meets another one; undefined for a read. */
export function conflictOf(operation: string, { TransactItems = [] }: Input): Error | undefined {
  if (operation !== 'TransactWrite')
    return WRITES.has(operation)
      ? new TransactionConflictException({ message: 'a transaction is in progress', $metadata: {} })
      : undefined;
  const CancellationReasons = TransactItems.map((_, index) => ({
    Code: index === 0 ? 'TransactionConflict' : 'None',
  }));
  return new TransactionCanceledException({
    message: 'Transaction cancelled',
    $metadata: {},
    CancellationReasons,
  });
}

/** The DynamoDB client of a process: each of its requests passes the scheduler. */
export function dynamoOf(world: World, process: Process, notFound: Set<OrgId>): DynamoDBClient {
  const { tables, organizations, statistics, random, witness } = world;
  /** Tokens of transactions that conflict until they give up. */
  const contended = new Set<string>();

  function conflict(operation: string, input: Input): Error | undefined {
    if (conflictOf(operation, input) === undefined) return undefined;
    const isTransaction = operation === 'TransactWrite';
    if (!isTransaction && !random.chance(CONTENDED_ALONE)) return undefined;
    if (isTransaction && random.chance(CONTENDED)) contended.add(String(input.ClientRequestToken));
    return conflictOf(operation, input);
  }

  /** A read of a state that is missing, or looks missing for a while. */
  function readState(input: Input, answer: () => unknown): unknown {
    const orgId = String(input.Key?.pk) as OrgId;
    const answered = organizations.isMissed(orgId) ? {} : (answer() as { Item?: Row });
    if (answered.Item === undefined) {
      statistics.count('organizations not found');
      notFound.add(orgId);
    }
    return answered;
  }

  /** DynamoDB may leave out any part of a batch. */
  function readBatch(input: Input, answer: () => unknown): unknown {
    const { isUntroubled, faults } = world;
    const entries = Object.entries(input.RequestItems ?? {});
    if (isUntroubled || !faults.leavesOut || !random.chance(LEFT_OUT)) return answer();
    statistics.count('parts left out');
    const [[name = '', left = {}] = []] = entries;
    const RequestItems = Object.fromEntries(entries.slice(1));
    const { Responses } = tables.memory.answer('BatchGet', { RequestItems }) as { Responses: object };
    return { Responses, UnprocessedKeys: { [name]: left } };
  }

  function effectOf(operation: string, input: Input, answer: () => unknown): () => unknown {
    if (operation === 'Get' && input.Key?.sk === 'organization') return () => readState(input, answer);
    if (operation === 'BatchGet') return () => readBatch(input, answer);
    if (operation === 'Query' && input.IndexName === OF_SANDBOX_INDEX)
      return () => {
        const [tenantKey] = Object.values(input.ExpressionAttributeValues ?? {});
        witness.resetDeletion.purges(process, String(tenantKey));
        return answer();
      };
    return answer;
  }

  return tables.memory.client(async (operation, input, answer) => {
    if (operation === 'Query') {
      const most = input.IndexName === undefined ? Number.POSITIVE_INFINITY : pageOf(world, input.IndexName);
      const asked = { ...input, Limit: Math.min(input.Limit ?? most, most) };
      const limited = Number.isFinite(asked.Limit) ? asked : input;
      // A read of an empty partition is not worth a step.
      if (tables.memory.isEmpty(input)) return process.alive ? answer() : forever();
      return query(operation, limited);
    }
    if (contended.has(input.ClientRequestToken ?? '-')) {
      await world.processes.stop(process, 'a conflict');
      throw conflict(operation, input);
    }
    return send(operation, input, answer);
  });

  async function query(operation: string, input: Input): Promise<unknown> {
    const answer = await send(operation, input, () => tables.memory.answer(operation, input));
    // The purge has more time than others: it may continue with data that was read long before.
    const isSlow = input.IndexName === OF_SANDBOX_INDEX && !world.isUntroubled;
    if (isSlow && random.chance(world.terms.slowFinds))
      await world.processes.sleep(process, random.pick([60, 125, 130]));
    return answer;
  }

  function send(operation: string, input: Input, answer: () => unknown): Promise<unknown> {
    const effect = effectOf(operation, input, answer);
    return pass(world, {
      process,
      name: `${operation} ${input.TableName ?? ''}`.trim(),
      detail:
        input.Key ??
        input.Item ??
        input.ExpressionAttributeValues ??
        input.TransactItems ??
        input.RequestItems,
      effect: () => tables.by(process, effect),
      conflict: () => conflict(operation, input),
    });
  }
}

/** Maximum of rows in a page of an index, so that runs end between two pages. */
const pageOf = ({ purgePage, duePage }: World, index: string): number =>
  ({ [OF_SANDBOX_INDEX]: purgePage, [DUE_INDEX]: duePage })[index] ?? Number.POSITIVE_INFINITY;

interface QueueInput {
  QueueUrl: string;
  Entries?: { Id: string; MessageBody: string; DelaySeconds?: number }[];
  ReceiptHandle?: string;
  VisibilityTimeout?: number;
}

/** The world's queues as SQS, for a process: delays are in seconds of the queues' own clock. */
export function queuesOf(world: World, process: Process): SQSClient {
  const { lanes, clock, witness, rounds } = world;
  const after = (seconds: number) => new Date(clock.ms + seconds * 1000);
  const failed = (entries: NonNullable<QueueInput['Entries']>, isRefused: (index: number) => boolean) => ({
    Failed: entries.filter((_, index) => isRefused(index)).map(({ Id }) => ({ Id })),
  });
  const ofRounds: Record<string, (input: QueueInput) => unknown> = {
    SendMessageBatch({ Entries = [] }) {
      for (const { MessageBody, DelaySeconds = 0 } of Entries)
        rounds.send(JSON.parse(MessageBody).detail, after(DelaySeconds).getTime());
      return failed(Entries, () => false);
    },
  };
  const ofLanes: Record<string, (input: QueueInput, lane: Lane) => unknown> = {
    async SendMessageBatch({ Entries = [] }, lane) {
      const messages = Entries.map(({ MessageBody, DelaySeconds = 0 }) => ({
        message: JSON.parse(MessageBody),
        ...(DelaySeconds === 0 ? {} : { until: after(DelaySeconds) }),
      }));
      const refused = await lanes.send(lane, messages);
      if (refused.length > 0) process.isDisturbed = true;
      witness.sending(
        messages.map(({ message }) => message),
        refused.map(({ item: { message } }) => message),
      );
      const items = refused.map(({ item }) => item);
      return failed(Entries, (index) => items.some((item) => item === messages[index]));
    },
    async ChangeMessageVisibility({ ReceiptHandle = '', VisibilityTimeout = 0 }, lane) {
      await lanes.hide(lane, ReceiptHandle, after(VisibilityTimeout));
      return {};
    },
    async GetQueueAttributes(_, lane) {
      const inFlight = (await lanes.crowded(lane)) ? CROWDED_IN_FLIGHT : 0;
      return {
        Attributes: {
          ApproximateNumberOfMessages: String(await lanes.backlog(lane)),
          ApproximateNumberOfMessagesNotVisible: String(inFlight),
        },
      };
    },
  };
  const send = (command: { input: QueueInput }): Promise<unknown> => {
    const operation = command.constructor.name.replace(/Command$/, '');
    const { input } = command;
    const lane = LANES.find((one) => one === input.QueueUrl);
    const effect =
      lane === undefined ? ofRounds[operation] : (given: QueueInput) => ofLanes[operation]?.(given, lane);
    if (effect === undefined) throw new Error(`${operation} is not known to the simulated queues`);
    const name = `${operation} ${input.QueueUrl}`;
    return pass(world, { process, name, detail: input, effect: () => effect(input) });
  };
  // The adapters use only `send`.
  return { send } as unknown as SQSClient;
}
