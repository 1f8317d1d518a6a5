import type { Context, Report } from './context.ts';
import { discardLetters, listLetters, redriveLetters, showLetter } from './dead-letters.ts';
import { disabledEndpoints, disableEndpoint, enableEndpoint, showEndpoint } from './endpoints.ts';
import { blockHost, listHosts, unblockHost } from './hosts.ts';
import { listKeys, retireKey, rotateKeys } from './keys.ts';
import { reconcileNow } from './reconcile.ts';
import { status } from './status.ts';
import { copyRows } from './table-copy.ts';

export interface Command {
  name: string;
  /** Parameter names in order. */
  parameters: readonly string[];
  summary: string;
  /** IAM actions, in addition to finding the stacks and using their encryption keys. */
  actions: readonly string[];
  run(context: Context, values: readonly string[]): Promise<Report>;
}

const RECEIVE = ['sqs:ReceiveMessage', 'sqs:ChangeMessageVisibility'];
const ENDPOINT = ['org', 'webhook'];
const CHANGE_KEYS = [
  'secretsmanager:GetSecretValue',
  'secretsmanager:PutSecretValue',
  'secretsmanager:UpdateSecretVersionStage',
];

export const COMMANDS: readonly Command[] = [
  {
    name: 'status',
    parameters: [],
    summary: 'queues, dead letters, what is due, keys',
    actions: ['sqs:GetQueueAttributes', 'dynamodb:Query', 'secretsmanager:GetSecretValue'],
    run: status,
  },
  {
    name: 'dead-letters list',
    parameters: ['queue'],
    summary: 'what the letters of a queue are about, the oldest first',
    actions: RECEIVE,
    run: listLetters,
  },
  {
    name: 'dead-letters show',
    parameters: ['queue', 'letter'],
    summary: 'one letter, without what customers wrote',
    actions: RECEIVE,
    run: showLetter,
  },
  {
    name: 'dead-letters redrive',
    parameters: ['queue'],
    summary: 'give letters back to the queue that they come from',
    actions: [...RECEIVE, 'sqs:SendMessage', 'sqs:DeleteMessage'],
    run: redriveLetters,
  },
  {
    name: 'dead-letters discard',
    parameters: ['queue'],
    summary: 'delete letters that cannot be processed',
    actions: [...RECEIVE, 'sqs:DeleteMessage'],
    run: discardLetters,
  },
  {
    name: 'endpoint show',
    parameters: ENDPOINT,
    summary: 'an endpoint or channel, and its last deliveries',
    actions: ['dynamodb:GetItem', 'dynamodb:Query'],
    run: showEndpoint,
  },
  {
    name: 'endpoint disable',
    parameters: ENDPOINT,
    summary: 'stop all deliveries to it at once; they are skipped',
    actions: ['dynamodb:GetItem', 'dynamodb:UpdateItem'],
    run: disableEndpoint,
  },
  {
    name: 'endpoint enable',
    parameters: ENDPOINT,
    summary: 'deliver to it again, with no failures counted',
    actions: ['dynamodb:GetItem', 'dynamodb:UpdateItem'],
    run: enableEndpoint,
  },
  {
    name: 'endpoint disabled',
    parameters: [],
    summary: 'all that are disabled; reads the whole table Service',
    actions: ['dynamodb:Scan'],
    run: disabledEndpoints,
  },
  {
    name: 'host list',
    parameters: [],
    summary: 'hosts that are blocked for all organizations, and why',
    actions: ['dynamodb:Query'],
    run: listHosts,
  },
  {
    name: 'host block',
    parameters: ['host'],
    summary: 'send nothing more to a host and its subdomains',
    actions: ['dynamodb:PutItem'],
    run: blockHost,
  },
  {
    name: 'host unblock',
    parameters: ['host'],
    summary: 'send to a host again',
    actions: ['dynamodb:Query', 'dynamodb:DeleteItem'],
    run: unblockHost,
  },
  {
    name: 'keys list',
    parameters: [],
    summary: 'versions of the keyrings',
    actions: ['secretsmanager:GetSecretValue'],
    run: listKeys,
  },
  {
    name: 'keys rotate',
    parameters: ['keyring'],
    summary: 'add a version; ten minutes later the same command makes it current',
    actions: CHANGE_KEYS,
    run: rotateKeys,
  },
  {
    name: 'keys retire',
    parameters: ['keyring', 'version'],
    summary: 'take away a version that nothing uses; reads the whole table Service',
    actions: [...CHANGE_KEYS, 'dynamodb:Scan'],
    run: retireKey,
  },
  {
    name: 'reconcile now',
    parameters: [],
    summary: 'send messages for due deliveries that have none, as the service does each minute',
    actions: ['dynamodb:Query', 'dynamodb:UpdateItem', 'sqs:SendMessage', 'sqs:GetQueueAttributes'],
    run: reconcileNow,
  },
  {
    name: 'table copy',
    parameters: ['table', 'from', 'prefix'],
    summary: 'bring rows of a restored table back whose pk begins so; "all" for all',
    actions: ['dynamodb:Scan', 'dynamodb:BatchGetItem', 'dynamodb:PutItem'],
    run: copyRows,
  },
];
