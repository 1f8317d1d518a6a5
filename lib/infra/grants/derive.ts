import type { ESTree } from 'vite';
import { Interpreter } from './interpreter.ts';
import { type Access, FROM_EVENT } from './resource.ts';
import { alternativesOf, elementOf, NOTHING, readKey, UNKNOWN, type Value } from './values.ts';

/**
 * Finds the AWS requests that code may send: every SDK command that it can construct from its entries.
 * @param files absolute paths of the entry modules
 * @throws Error for an unknown command, or one whose resource is not in the code
 */
export function deriveAccess(files: readonly string[], parse?: (file: string) => ESTree.Program): Access {
  const access = new Map<string, Set<string>>();
  const interpreter = new Interpreter((from, name, input) => {
    if (!from.startsWith('@aws-sdk/') || !/Command$|^paginate/.test(name)) return;
    for (const { action, resource } of findRequests(from, name, input)) {
      const actions = access.get(resource) ?? new Set();
      access.set(resource, actions.add(action));
    }
  }, parse);
  for (const file of files) interpreter.run(file);
  return Object.fromEntries(
    [...access]
      .sort(([a], [b]) => a.localeCompare(b))
      .map(([resource, actions]) => [resource, [...actions].sort()]),
  );
}

interface Request {
  action: string;
  resource: string;
}
type Rule = (input: Value) => Request[];

/** @throws Error when the command or its resource is unknown */
function findRequests(from: string, name: string, input: Value): Request[] {
  const rule = RULES[name];
  if (rule === undefined)
    throw new Error(
      `${name} of ${from}: which permission it needs is not known (lib/infra/grants/derive.ts)`,
    );
  try {
    return rule(input);
  } catch (error) {
    throw new Error(`${name} of ${from}: its resource cannot be derived from the code`, { cause: error });
  }
}

/** Actions on resources that members of the input name (Service Authorization Reference). */
const RULES: Readonly<Record<string, Rule>> = {
  GetCommand: onTable('dynamodb:GetItem'),
  PutCommand: onTable('dynamodb:PutItem'),
  UpdateCommand: onTable('dynamodb:UpdateItem'),
  DeleteCommand: onTable('dynamodb:DeleteItem'),
  QueryCommand: onTable('dynamodb:Query'),
  paginateQuery: onTable('dynamodb:Query'),
  ScanCommand: onTable('dynamodb:Scan'),
  BatchGetCommand: onEachTable('dynamodb:BatchGetItem'),
  BatchWriteCommand: onEachTable('dynamodb:BatchWriteItem'),
  TransactWriteCommand: onEachPart,
  GetItemCommand: onTable('dynamodb:GetItem'),
  PutItemCommand: onTable('dynamodb:PutItem'),
  UpdateItemCommand: onTable('dynamodb:UpdateItem'),
  DeleteItemCommand: onTable('dynamodb:DeleteItem'),
  BatchGetItemCommand: onEachTable('dynamodb:BatchGetItem'),
  BatchWriteItemCommand: onEachTable('dynamodb:BatchWriteItem'),
  TransactGetItemsCommand: onEachPart,
  TransactWriteItemsCommand: onEachPart,
  GetShardIteratorCommand: () => [{ action: 'dynamodb:GetShardIterator', resource: FROM_EVENT }],
  // Uses an iterator, which names no resource.
  GetRecordsCommand: () => [{ action: 'dynamodb:GetRecords', resource: FROM_EVENT }],
  SendMessageCommand: on('sqs:SendMessage', 'QueueUrl'),
  SendMessageBatchCommand: on('sqs:SendMessage', 'QueueUrl'),
  ChangeMessageVisibilityCommand: on('sqs:ChangeMessageVisibility', 'QueueUrl'),
  GetQueueAttributesCommand: on('sqs:GetQueueAttributes', 'QueueUrl'),
  GetSecretValueCommand: on('secretsmanager:GetSecretValue', 'SecretId'),
  ListUsersCommand: on('cognito-idp:ListUsers', 'UserPoolId'),
  InvokeCommand: on('lambda:InvokeFunction', 'FunctionName'),
  SendEmailCommand: on('ses:SendEmail', 'FromEmailAddress'),
  PutEventsCommand: (input) =>
    memberValues(input, 'Entries').flatMap((entries) =>
      on('events:PutEvents', 'EventBusName')(elementOf(entries)),
    ),
};

/** A transaction needs only its parts' permissions. */
const PARTS: Readonly<Record<string, Rule>> = {
  Get: onTable('dynamodb:GetItem'),
  Put: onTable('dynamodb:PutItem'),
  Update: onTable('dynamodb:UpdateItem'),
  Delete: onTable('dynamodb:DeleteItem'),
  ConditionCheck: onTable('dynamodb:ConditionCheckItem'),
};

function onEachPart(input: Value): Request[] {
  return memberValues(input, 'TransactItems').flatMap((items) =>
    alternativesOf(elementOf(items)).flatMap((item) =>
      Object.entries(PARTS).flatMap(([part, rule]) => memberValues(item, part).flatMap(rule)),
    ),
  );
}

function on(action: string, member: string): Rule {
  return (input) => variables(memberValues(input, member)).map((resource) => ({ action, resource }));
}

function onTable(action: string): Rule {
  return (input) =>
    variables(memberValues(input, 'TableName')).flatMap((table) => {
      const indexes = memberValues(input, 'IndexName').flatMap((name) =>
        name.kind === 'text' ? [name.text] : [],
      );
      const resources = indexes.length === 0 ? [table] : indexes.map((index) => `${table}/index/${index}`);
      return resources.map((resource) => ({ action, resource }));
    });
}

/** A batch's parts are keyed by table name. */
function onEachTable(action: string): Rule {
  return (input) =>
    memberValues(input, 'RequestItems').flatMap((items) => {
      // Unprocessed keys of an earlier response, whose request is known.
      if (items.kind === 'unknown') return [];
      if (items.kind !== 'shape' || items.rest !== undefined) throw new Error('named by nothing known');
      return variables([...items.properties.keys()].map((key) => readKey(key))).map((resource) => ({
        action,
        resource,
      }));
    });
}

/** Possible values of a member of a command's input. */
const memberValues = (input: Value, name: string): ReturnType<typeof alternativesOf> =>
  alternativesOf(input).flatMap((alternative) =>
    alternativesOf(
      alternative.kind === 'shape'
        ? (alternative.properties.get(name) ?? alternative.rest ?? NOTHING)
        : UNKNOWN,
    ),
  );

/**
 * Environment variables that may name a resource; none for unreachable code.
 * @throws Error when another value may name it
 */
const variables = (values: readonly Value[]): string[] =>
  values.map((value) => {
    if (value.kind === 'variable') return value.name;
    throw new Error(`named by ${value.kind}`);
  });
