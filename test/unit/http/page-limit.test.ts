import { describe, expect, it } from 'vitest';
import { PageQuery } from '../../../functions/api/fields.ts';
import { success } from '../../../functions/http/reply.ts';
import type { Route } from '../../../functions/http/route.ts';
import { aRequest, envelope, send, thingRoute } from './call.ts';
import { inMemory } from './in-memory.ts';

describe('the limit parameter of a list', () => {
  const listRoute = {
    ...thingRoute,
    method: 'GET',
    idempotency: undefined,
    body: undefined,
    query: PageQuery,
  } as const satisfies Route;

  async function limitOf(limit: string | undefined) {
    const service = inMemory();
    const seen: unknown[] = [];
    const queryStringParameters = limit === undefined ? null : { limit };
    const answer = await send(
      listRoute,
      service,
      aRequest(service, { queryStringParameters }),
      async ({ query }) => {
        seen.push(query.limit);
        return success({ name: 'x' });
      },
    );
    return { ...answer, limit: seen[0] };
  }

  it.each([
    [undefined, 20],
    ['', 20],
    ['1', 1],
    ['20', 20],
    ['100', 100],
    ['101', 100],
    ['0', 1],
    ['-0', 1],
    ['-5', 1],
    ['+7', 7],
    ['007', 7],
    ['9'.repeat(30), 100],
    ['9'.repeat(400), 100],
    [`-${'9'.repeat(400)}`, 1],
  ])('given as %j is %i', async (given, limit) => {
    expect(await limitOf(given)).toMatchObject({ status: 201, limit });
  });

  it.each([
    '20.5',
    '1e3',
    'twenty',
    ' 5',
    '5 ',
    '5\n',
    '0x10',
    'NaN',
    'Infinity',
    '-',
    '+',
    '--5',
    '1,0',
    '٣',
    'null',
  ])('is refused when it is %j', async (given) => {
    const { status, body, limit } = await limitOf(given);
    expect(status).toBe(400);
    expect(body).toEqual(envelope('VALIDATION_ERROR', 'limit must be an integer.'));
    expect(limit).toBeUndefined();
  });
});
