import { hasScope, Scope } from '../../../functions/tenancy/api-keys.ts';
import { hasRole, Role } from '../../../functions/tenancy/tenant.ts';
import type {
  Content,
  Header,
  OpenApiDocument,
  Operation,
  Parameter,
  RequestBody,
  Response,
} from '../openapi.ts';
import type { Resolve } from './resolution.ts';
import { schemaChanges } from './schemas.ts';

/** Two documents, each with what its references stand for. */
export interface Documents {
  released: { document: OpenApiDocument; resolve: Resolve };
  current: { document: OpenApiDocument; resolve: Resolve };
}

/**
 * What breaks the callers of an operation. @returns one line for each change, which begins with its place in
 * the operation
 */
export function operationChanges(released: Operation, current: Operation, documents: Documents): string[] {
  return [
    ...securityChanges(released, current, documents),
    ...parameterChanges(released, current, documents),
    ...bodyChanges(released.requestBody, current.requestBody, documents),
    ...answerChanges(released, current, documents),
  ];
}

const resolvers = ({ released, current }: Documents) => ({
  released: released.resolve,
  current: current.resolve,
});

function securityChanges(released: Operation, current: Operation, documents: Documents): string[] {
  const changes: string[] = [];
  /** Schemes by their definition, not by their names. */
  const meaning = (operation: Operation, { document }: Documents['released']) =>
    operation.security.map((requirement) =>
      JSON.stringify(
        Object.entries(requirement)
          .map(([name, roles]) => {
            const { type, scheme, in: where, name: header } = document.components.securitySchemes[name] ?? {};
            return [type, scheme, where, header, roles];
          })
          .sort(),
      ),
    );
  const accepted = meaning(current, documents.current);
  const before = meaning(released, documents.released);
  const isPublic = (requirements: string[]) => requirements.length === 0 || requirements.includes('[]');
  if (isPublic(before) ? !isPublic(accepted) : !before.every((it) => accepted.includes(it)))
    changes.push('security: a way to authenticate was removed or changed');

  const [scope, neededScope] = [released['x-required-scope'], current['x-required-scope']];
  if (neededScope !== undefined && !(scope !== undefined && scopeGrants(scope, neededScope)))
    changes.push(`security: the scope ${scope ?? 'none'} became ${neededScope}`);
  const [role, neededRole] = [released['x-required-role'], current['x-required-role']];
  if (neededRole !== undefined && !(role !== undefined && rolePermits(role, neededRole)))
    changes.push(`security: the role ${role ?? 'none'} became ${neededRole}`);
  return changes;
}

function scopeGrants(has: string, needed: string): boolean {
  const [first, second] = [Scope.safeParse(has), Scope.safeParse(needed)];
  return has === needed || (first.success && second.success && hasScope([first.data], second.data));
}

function rolePermits(has: string, needed: string): boolean {
  const [first, second] = [Role.safeParse(has), Role.safeParse(needed)];
  return has === needed || (first.success && second.success && hasRole(first.data, second.data));
}

/**
 * Parameters by where they are. Those of the path by their position: what they are called is not in the
 * request.
 */
function parametersOf(operation: Operation, resolve: Resolve): Map<string, Parameter> {
  const parameters = (operation.parameters ?? []).map((parameter) => resolve<Parameter>(parameter));
  const inPath = parameters.filter((parameter) => parameter.in === 'path');
  return new Map(
    parameters.map((parameter) => [
      parameter.in === 'path'
        ? `path parameter ${inPath.indexOf(parameter) + 1}`
        : `${parameter.in} parameter ${parameter.in === 'header' ? parameter.name.toLowerCase() : parameter.name}`,
      parameter,
    ]),
  );
}

function parameterChanges(released: Operation, current: Operation, documents: Documents): string[] {
  const changes: string[] = [];
  const was = parametersOf(released, documents.released.resolve);
  const is = parametersOf(current, documents.current.resolve);
  for (const [place, parameter] of was) {
    const now = is.get(place);
    if (now === undefined) changes.push(`${place}: it was removed`);
    else {
      if (now.required && !parameter.required) changes.push(`${place}: it became required`);
      changes.push(
        ...schemaChanges(
          parameter.schema,
          now.schema,
          { direction: 'request', ...resolvers(documents) },
          place,
        ),
      );
    }
  }
  for (const [place, { required }] of is)
    if (required && !was.has(place)) changes.push(`${place}: it is new and required`);
  return changes;
}

function bodyChanges(
  released: RequestBody | undefined,
  current: RequestBody | undefined,
  documents: Documents,
): string[] {
  const changes: string[] = [];
  if (current?.required && !released?.required) changes.push('request body: it became required');
  if (released !== undefined)
    changes.push(...contentChanges(released.content, current?.content, 'request', documents, 'request body'));
  return changes;
}

/** @param place names the content, whose media types must stay */
export function contentChanges(
  released: Content,
  current: Content | undefined,
  direction: 'request' | 'answer',
  documents: Documents,
  place: string,
): string[] {
  return Object.entries(released).flatMap(([mediaType, { schema }]) => {
    const now = current?.[mediaType];
    return now === undefined
      ? [`${place}: ${mediaType} was removed`]
      : schemaChanges(schema, now.schema, { direction, ...resolvers(documents) }, place);
  });
}

/**
 * Successes must keep their status. An error may get another one, but where a status stays, so must its
 * answer.
 */
function answerChanges(released: Operation, current: Operation, documents: Documents): string[] {
  return Object.entries(released.responses).flatMap(([status, response]) => {
    const now = current.responses[status];
    const place = `answer ${status}`;
    if (now === undefined) return status.startsWith('2') ? [`${place}: the status was removed`] : [];
    const before = documents.released.resolve<Response>(response);
    const after = documents.current.resolve<Response>(now);
    return [
      ...headerChanges(before, after, documents, place),
      ...contentChanges(before.content ?? {}, after.content, 'answer', documents, place),
    ];
  });
}

function headerChanges(
  released: Response,
  current: Response,
  documents: Documents,
  answer: string,
): string[] {
  const headersOf = ({ headers = {} }: Response, resolve: Resolve) =>
    new Map(
      Object.entries(headers).map(([name, header]) => [name.toLowerCase(), resolve<Header>(header)] as const),
    );
  const is = headersOf(current, documents.current.resolve);
  return [...headersOf(released, documents.released.resolve)].flatMap(([name, header]) => {
    const place = `${answer}, header ${name}`;
    const now = is.get(name);
    if (now === undefined) return [`${place}: it was removed`];
    return [
      ...(header.required && !now.required ? [`${place}: it may be absent now`] : []),
      ...schemaChanges(header.schema, now.schema, { direction: 'answer', ...resolvers(documents) }, place),
    ];
  });
}
