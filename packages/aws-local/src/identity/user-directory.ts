import * as z from 'zod';
import type { Engine } from '../engines/engine.ts';
import { failure, type JsonAnswer, startJsonService, success } from '../engines/json-service.ts';
import { type PoolUser, poolUserOf } from './pool-user.ts';
import { compileUserFilter } from './user-filter.ts';
import { STANDARD_ATTRIBUTES, type UserPool } from './user-pool.ts';
import type { Users } from './users.ts';

/** Cognito's limit on a page. */
const MAX_USERS = 60;

const ListUsers = z.object({
  UserPoolId: z.string(),
  Filter: z.string().max(256).default(''),
  Limit: z.int().min(0).max(MAX_USERS).default(MAX_USERS),
  PaginationToken: z.string().min(1).optional(),
  AttributesToGet: z.array(z.string()).optional(),
});

/** Starts a Cognito with `ListUsers` for the pool. */
export const startUserDirectory = (
  pool: Pick<UserPool, 'id' | 'customAttributes'>,
  users: Pick<Users, 'all'>,
): Promise<Engine> =>
  startJsonService(({ target, body }) =>
    target === 'AWSCognitoIdentityProviderService.ListUsers'
      ? listUsers(body, pool, users)
      : failure('InvalidAction', `The local Cognito does not know ${target}`),
  );

function listUsers(
  body: unknown,
  { id, customAttributes }: Pick<UserPool, 'id' | 'customAttributes'>,
  users: Pick<Users, 'all'>,
): JsonAnswer {
  const request = ListUsers.safeParse(body);
  if (!request.success) return failure('InvalidParameterException', z.prettifyError(request.error));
  const { UserPoolId, Filter, Limit, PaginationToken, AttributesToGet } = request.data;
  if (UserPoolId !== id)
    return failure('ResourceNotFoundException', `User pool ${UserPoolId} does not exist.`);
  const matches = compileUserFilter(Filter);
  if (!matches) return failure('InvalidParameterException', `Error while parsing filter: ${Filter}`);
  const attributes = new Set(['sub', ...STANDARD_ATTRIBUTES, ...customAttributes.keys()]);
  if (AttributesToGet?.some((name) => !attributes.has(name)))
    return failure(
      'InvalidParameterException',
      'One or more requested attributes do not exist in user pool.',
    );
  const after = PaginationToken === undefined ? '' : decodePageToken(PaginationToken);
  const rest = users
    .all()
    .map(poolUserOf)
    .filter(matches)
    .sort((a, b) => (a.Username < b.Username ? -1 : 1))
    .filter(({ Username }) => Username > after);
  // Cognito ignores a limit of 0.
  const page = rest.slice(0, Limit || MAX_USERS);
  const last = page.at(-1);
  return success({
    Users: page.map((user) => withAttributes(user, AttributesToGet)),
    ...(last && page.length < rest.length ? { PaginationToken: encodePageToken(last) } : {}),
  });
}

const withAttributes = (user: PoolUser, names: readonly string[] | undefined): PoolUser =>
  names === undefined
    ? user
    : { ...user, Attributes: user.Attributes.filter(({ Name }) => names.includes(Name)) };

const encodePageToken = ({ Username }: PoolUser) => Buffer.from(Username).toString('base64url');
const decodePageToken = (token: string) => Buffer.from(token, 'base64url').toString();
