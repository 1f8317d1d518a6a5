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
    summary: 'show queues, dead letters, due work and keys',
    actions: ['sqs:GetQueueAttributes', 'dynamodb:Query', 'secretsmanager:GetSecretValue'],
    run: status,
  },
  {
    name: 'dead-letters list',
    parameters: ['queue'],
    summary: 'list the dead letters of a queue, oldest first',
    actions: RECEIVE,
    run: listLetters,
  },
  {
    name: 'dead-letters show',
    parameters: ['queue', 'letter'],
    summary: "show one dead letter, without customers' texts",
    actions: RECEIVE,
    run: showLetter,
  },
  {
    name: 'dead-letters redrive',
    parameters: ['queue'],
    summary: 'move dead letters back to their queue',
    actions: [...RECEIVE, 'sqs:SendMessage', 'sqs:DeleteMessage'],
    run: redriveLetters,
  },
  {
    name: 'dead-letters discard',
    parameters: ['queue'],
    summary: 'delete dead letters',
    actions: [...RECEIVE, 'sqs:DeleteMessage'],
    run: discardLetters,
  },
  {
    name: 'endpoint show',
    parameters: ENDPOINT,
    summary: 'show an endpoint or channel and its last deliveries',
    actions: ['dynamodb:GetItem', 'dynamodb:Query'],
    run: showEndpoint,
  },
  {
    name: 'endpoint disable',
    parameters: ENDPOINT,
    summary: 'disable an endpoint at once; its deliveries are skipped',
    actions: ['dynamodb:GetItem', 'dynamodb:UpdateItem', 'dynamodb:PutItem'],
    run: disableEndpoint,
  },
  {
    name: 'endpoint enable',
    parameters: ENDPOINT,
    summary: 'enable an endpoint and reset its failure count',
    actions: ['dynamodb:GetItem', 'dynamodb:UpdateItem', 'dynamodb:PutItem'],
    run: enableEndpoint,
  },
  {
    name: 'endpoint disabled',
    parameters: [],
    summary: 'list all disabled endpoints; reads the whole Service table',
    actions: ['dynamodb:Scan'],
    run: disabledEndpoints,
  },
  {
    name: 'host list',
    parameters: [],
    summary: 'list blocked hosts and the reasons',
    actions: ['dynamodb:Query'],
    run: listHosts,
  },
  {
    name: 'host block',
    parameters: ['host'],
    summary: 'block a host and its subdomains for all organizations',
    actions: ['dynamodb:PutItem'],
    run: blockHost,
  },
  {
    name: 'host unblock',
    parameters: ['host'],
    summary: 'unblock a host',
    actions: ['dynamodb:Query', 'dynamodb:DeleteItem'],
    run: unblockHost,
  },
  {
    name: 'keys list',
    parameters: [],
    summary: 'list the versions of the keyrings',
    actions: ['secretsmanager:GetSecretValue'],
    run: listKeys,
  },
  {
    name: 'keys rotate',
    parameters: ['keyring'],
    summary: 'add a key version; ten minutes later the same command makes it current',
    actions: CHANGE_KEYS,
    run: rotateKeys,
  },
  {
    name: 'keys retire',
    parameters: ['keyring', 'version'],
    summary: 'remove an unused key version; reads the whole Service table',
    actions: [...CHANGE_KEYS, 'dynamodb:Scan'],
    run: retireKey,
  },
  {
    name: 'reconcile now',
    parameters: [],
    summary: 'send the messages of due deliveries, as the reconciler does each minute',
    actions: ['dynamodb:Query', 'dynamodb:UpdateItem', 'sqs:SendMessage', 'sqs:GetQueueAttributes'],
    run: reconcileNow,
  },
  {
    name: 'table copy',
    parameters: ['table', 'from', 'prefix'],
    summary: 'copy rows of a restored table whose pk begins with the prefix; "all" for all rows',
    actions: ['dynamodb:Scan', 'dynamodb:BatchGetItem', 'dynamodb:PutItem'],
    run: copyRows,
  },
];
