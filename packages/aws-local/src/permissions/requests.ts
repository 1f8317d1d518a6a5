import {
  busArn,
  DEFAULT_BUS,
  functionArn,
  indexArn,
  queueArn,
  secretArn,
  sesArn,
  tableArn,
  userPoolArn,
} from '../arns.ts';
import { LocalRunError } from '../errors.ts';

export type Service = 'dynamodb' | 'sqs' | 'secretsmanager' | 'events' | 'cognito-idp' | 'ses' | 'lambda';

/** An IAM action on a resource's ARN, or on `*` for an action without a resource. */
export interface PermissionRequest {
  action: string;
  resource: string;
  /** Alternative resource for the permission. */
  or?: string;
}

type Body = Readonly<Record<string, unknown>>;
type Rule = (body: Body, operation: string) => PermissionRequest[];

/**
 * The IAM permissions of a request (Service Authorization Reference). A body without the member that names
 * its resource needs none: the engine rejects it as malformed.
 * @param target the `X-Amz-Target` header, such as `DynamoDB_20120810.PutItem`, or the operation alone
 * @throws LocalRunError for an unsupported operation
 */
export function requestsOf(service: Service, target: string, body: unknown): PermissionRequest[] {
  const operation = target.slice(target.lastIndexOf('.') + 1);
  const operations = rules[service];
  const rule = Object.hasOwn(operations, operation) ? operations[operation] : undefined;
  if (!rule)
    throw new LocalRunError(`The local run does not know which permission ${service}:${operation} needs`);
  return rule(member(body), operation);
}

const onTable: Rule = ({ TableName }, operation) =>
  typeof TableName === 'string' ? [{ action: `dynamodb:${operation}`, resource: toTableArn(TableName) }] : [];

const onTableOrIndex: Rule = (body, operation) =>
  typeof body.TableName === 'string' && typeof body.IndexName === 'string'
    ? [{ action: `dynamodb:${operation}`, resource: toIndexArn(body.TableName, body.IndexName) }]
    : onTable(body, operation);

const onStream: Rule = ({ StreamArn }, operation) =>
  typeof StreamArn === 'string' ? [{ action: `dynamodb:${operation}`, resource: StreamArn }] : [];

const onEachTable: Rule = ({ RequestItems }, operation) =>
  Object.keys(member(RequestItems)).map((table) => ({
    action: `dynamodb:${operation}`,
    resource: toTableArn(table),
  }));

/** A transaction needs the permissions of its parts only. */
const onEachTransactItem: Rule = ({ TransactItems }) =>
  (Array.isArray(TransactItems) ? TransactItems : []).flatMap((item) =>
    Object.entries(member(item)).flatMap(([part, request]) => {
      const operation = Object.hasOwn(transactParts, part) ? transactParts[part] : undefined;
      return operation ? onTable(member(request), operation) : [];
    }),
  );

const transactParts: Readonly<Record<string, string>> = {
  Get: 'GetItem',
  Put: 'PutItem',
  Update: 'UpdateItem',
  Delete: 'DeleteItem',
  ConditionCheck: 'ConditionCheckItem',
};

/** A batch has no action of its own: `SendMessageBatch` needs `sqs:SendMessage`. */
const onQueue: Rule = ({ QueueUrl, QueueName }, operation) => {
  const name = typeof QueueUrl === 'string' ? QueueUrl.slice(QueueUrl.lastIndexOf('/') + 1) : QueueName;
  return typeof name === 'string'
    ? [{ action: `sqs:${operation.replace(/Batch$/, '')}`, resource: queueArn(name) }]
    : [];
};

const onSecret: Rule = ({ SecretId }, operation) =>
  typeof SecretId === 'string'
    ? [
        {
          action: `secretsmanager:${operation}`,
          resource: SecretId.startsWith('arn:') ? SecretId : secretArn(SecretId),
        },
      ]
    : [];

/** A request may put entries on several buses. */
const onEachBus: Rule = ({ Entries }, operation) => {
  const entries = Array.isArray(Entries) ? Entries.map(member) : [];
  const buses = entries.map(({ EventBusName = DEFAULT_BUS }) => String(EventBusName));
  return [...new Set(buses)].map((bus) => ({
    action: `events:${operation}`,
    resource: bus.startsWith('arn:') ? bus : busArn(bus),
  }));
};

const onUserPool: Rule = ({ UserPoolId }, operation) =>
  typeof UserPoolId === 'string'
    ? [{ action: `cognito-idp:${operation}`, resource: userPoolArn(UserPoolId) }]
    : [];

/** The role may name the verified address or its domain. */
const onSender: Rule = ({ FromEmailAddress, ConfigurationSetName }, operation) => {
  if (typeof FromEmailAddress !== 'string') return [];
  const action = `ses:${operation}`;
  const address = /<(.+)>$/.exec(FromEmailAddress)?.[1] ?? FromEmailAddress;
  const domain = address.slice(address.lastIndexOf('@') + 1);
  return [
    { action, resource: sesArn(`identity/${address}`), or: sesArn(`identity/${domain}`) },
    ...(typeof ConfigurationSetName === 'string'
      ? [{ action, resource: sesArn(`configuration-set/${ConfigurationSetName}`) }]
      : []),
  ];
};

/** The name is in the path of the request. */
const onFunction: Rule = ({ FunctionName }) =>
  typeof FunctionName === 'string'
    ? [
        {
          action: 'lambda:InvokeFunction',
          resource: FunctionName.startsWith('arn:') ? FunctionName : functionArn(FunctionName),
        },
      ]
    : [];

const onAll =
  (service: Service): Rule =>
  (_, operation) => [{ action: `${service}:${operation}`, resource: '*' }];

const rules: Readonly<Record<Service, Readonly<Record<string, Rule>>>> = {
  dynamodb: {
    GetItem: onTable,
    PutItem: onTable,
    UpdateItem: onTable,
    DeleteItem: onTable,
    Query: onTableOrIndex,
    Scan: onTableOrIndex,
    BatchGetItem: onEachTable,
    BatchWriteItem: onEachTable,
    TransactGetItems: onEachTransactItem,
    TransactWriteItems: onEachTransactItem,
    DescribeTable: onTable,
    DescribeTimeToLive: onTable,
    CreateTable: onTable,
    UpdateTable: onTable,
    UpdateTimeToLive: onTable,
    DeleteTable: onTable,
    ListTables: onAll('dynamodb'),
    DescribeLimits: onAll('dynamodb'),
    DescribeEndpoints: onAll('dynamodb'),
    // DynamoDB Streams is a separate service with DynamoDB's actions.
    DescribeStream: onStream,
    GetShardIterator: onStream,
    GetRecords: onStream,
    ListStreams: onAll('dynamodb'),
  },
  sqs: {
    SendMessage: onQueue,
    SendMessageBatch: onQueue,
    ReceiveMessage: onQueue,
    DeleteMessage: onQueue,
    DeleteMessageBatch: onQueue,
    ChangeMessageVisibility: onQueue,
    ChangeMessageVisibilityBatch: onQueue,
    GetQueueAttributes: onQueue,
    SetQueueAttributes: onQueue,
    GetQueueUrl: onQueue,
    PurgeQueue: onQueue,
    CreateQueue: onQueue,
    DeleteQueue: onQueue,
    ListQueues: onAll('sqs'),
  },
  secretsmanager: {
    GetSecretValue: onSecret,
    DescribeSecret: onSecret,
  },
  events: { PutEvents: onEachBus },
  'cognito-idp': { ListUsers: onUserPool },
  ses: { SendEmail: onSender },
  lambda: { Invoke: onFunction },
};

/** DynamoDB accepts a table's ARN in place of its name. */
const toTableArn = (table: string) => (table.startsWith('arn:') ? table : tableArn(table));

const toIndexArn = (table: string, index: string) =>
  table.startsWith('arn:') ? `${table}/index/${index}` : indexArn(table, index);

function member(value: unknown): Body {
  return value !== null && typeof value === 'object' ? Object.fromEntries(Object.entries(value)) : {};
}
