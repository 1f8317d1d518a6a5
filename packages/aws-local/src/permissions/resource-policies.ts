import * as z from 'zod';
import { LocalRunError } from '../errors.ts';
import { matches } from './permissions.ts';

/** A request that an AWS service makes in its own name. */
export interface ServiceRequest {
  /** `events.amazonaws.com`. */
  service: string;
  action: string;
  /** ARN. */
  resource: string;
  /** Condition keys that the service sends, such as `aws:SourceArn`. */
  context: Readonly<Record<string, string>>;
}

/** A statement of a resource's policy. */
export interface ResourceStatement {
  effect: 'Allow' | 'Deny';
  /** Service names, ARNs of other principals, and `*`. */
  principals: string[];
  actions: string[];
  resources: string[];
  /** Values by operator and condition key. */
  conditions: Record<string, Record<string, string[]>>;
}

// The list comes first: coercion would make it one text.
const oneOrMore = z.union([z.array(z.coerce.string()), z.coerce.string().transform((one) => [one])]);

const Statement = z.strictObject({
  Sid: z.string().optional(),
  Effect: z.enum(['Allow', 'Deny']),
  Principal: z.union([
    z.literal('*').transform(() => ['*']),
    z
      .strictObject({ Service: oneOrMore.optional(), AWS: oneOrMore.optional() })
      .transform(({ Service = [], AWS = [] }) => [...Service, ...AWS]),
  ]),
  Action: z.union([z.string().transform((one) => [one]), z.array(z.string())]),
  Resource: z.union([z.string().transform((one) => [one]), z.array(z.string())]),
  Condition: z.record(z.string(), z.record(z.string(), oneOrMore)).default({}),
});

const Document = z.object({
  Statement: z.union([z.array(z.unknown()), z.unknown().transform((one) => [one])]),
});

/**
 * Parses a resolved resource policy.
 * @param where the policy's logical id, for messages
 * @throws LocalRunError for an unsupported element or condition operator
 */
export function parseResourcePolicy(document: unknown, where: string): ResourceStatement[] {
  return Document.parse(document).Statement.map((statement) => {
    const parsed = Statement.safeParse(statement);
    if (!parsed.success)
      throw new LocalRunError(
        `${where}: the local run cannot evaluate this statement: ${z.prettifyError(parsed.error)}`,
      );
    const { Effect, Principal, Action, Resource, Condition } = parsed.data;
    const operator = Object.keys(Condition).find((name) => !Object.hasOwn(OPERATORS, stripIfExists(name)));
    if (operator !== undefined)
      throw new LocalRunError(`${where}: the local run does not know the condition operator ${operator}`);
    return {
      effect: Effect,
      principals: Principal,
      actions: Action,
      resources: Resource,
      conditions: Condition,
    };
  });
}

/** Whether a resource's policy allows a service's request: a statement allows it and none denies it. */
export function allowsService(statements: readonly ResourceStatement[], request: ServiceRequest): boolean {
  const applicable = statements.filter((statement) => applies(statement, request));
  return (
    applicable.some(({ effect }) => effect === 'Allow') &&
    applicable.every(({ effect }) => effect === 'Allow')
  );
}

function applies(
  statement: ResourceStatement,
  { service, action, resource, context }: ServiceRequest,
): boolean {
  return (
    statement.principals.some((principal) => principal === '*' || principal === service) &&
    statement.actions.some((pattern) => matches(pattern.toLowerCase(), action.toLowerCase())) &&
    statement.resources.some((pattern) => matches(pattern, resource)) &&
    Object.entries(statement.conditions).every(([operator, keys]) =>
      Object.entries(keys).every(([key, values]) => holds(operator, findValue(context, key), values)),
    )
  );
}

/** Condition key names are not case-sensitive. */
const findValue = (context: ServiceRequest['context'], key: string): string | undefined =>
  Object.entries(context).find(([name]) => name.toLowerCase() === key.toLowerCase())?.[1];

type Comparison = (value: string, expected: string) => boolean;
const isLike: Comparison = (value, pattern) => matches(pattern, value);

const OPERATORS: Readonly<Record<string, Comparison>> = {
  StringEquals: (value, expected) => value === expected,
  StringLike: isLike,
  ArnEquals: isLike,
  ArnLike: isLike,
  Bool: (value, expected) => value.toLowerCase() === expected.toLowerCase(),
  NumericLessThan: (value, expected) => Number(value) < Number(expected),
};

const IF_EXISTS = /IfExists$/;
const stripIfExists = (operator: string): string => operator.replace(IF_EXISTS, '');

/** A key that the request lacks satisfies no condition, except with `IfExists`. */
function holds(operator: string, value: string | undefined, expected: readonly string[]): boolean {
  if (value === undefined) return IF_EXISTS.test(operator);
  const compare = OPERATORS[stripIfExists(operator)];
  return compare !== undefined && expected.some((one) => compare(value, one));
}
