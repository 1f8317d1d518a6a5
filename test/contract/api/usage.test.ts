import type { APIGatewayProxyEvent, APIGatewayProxyResult, Context } from 'aws-lambda';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { committer } from '../../../functions/aws/transaction.ts';
import { getLatestMonths, usageMeter } from '../../../functions/events/usage.ts';
import { organizationStore } from '../../../functions/tenancy/organizations.ts';
import { anOrganization } from '../../builders.ts';
import { dynamoDb, type TestTables } from '../../engines.ts';
import { aGatewayEvent, FUNCTION_ENVIRONMENT, INVOCATION } from '../../support/functions.ts';
import { aPermit } from '../../unit/delivery/outbound/permit.ts';
import { addressOf } from '../store/conversation-service.ts';
import { aMeteredEvent } from '../store/usages.ts';
import { anIssuer } from './functions.ts';

type Handler = (event: APIGatewayProxyEvent, context: Context) => Promise<APIGatewayProxyResult>;

const engine = dynamoDb();
let issuer: Awaited<ReturnType<typeof anIssuer>>;
let tables: TestTables;
let handler: Handler;

beforeAll(async () => {
  issuer = await anIssuer();
  tables = await engine.createdTables();
  const environment = {
    ...FUNCTION_ENVIRONMENT,
    AWS_ENDPOINT_URL_DYNAMODB: await addressOf(engine),
    LOG_LEVEL: 'SILENT',
    OIDC_ISSUER: issuer.issuer,
    SERVICE_TABLE: tables.service.name,
    RATE_TABLE: tables.rates.name,
    USAGE_TABLE: tables.usage.name,
  };
  for (const [name, value] of Object.entries(environment)) vi.stubEnv(name, value);
  ({ handler } = await import('../../../functions/api/settings/read-usage.ts'));
});
afterAll(() => {
  issuer.close();
  vi.unstubAllEnvs();
});

/** A new live organization with the given usage by month, and a client that reads it with its session. */
async function anOrganizationWithUsage(messagesIn: Readonly<Record<string, number>>) {
  const organization = anOrganization();
  await committer(tables.service.client)([organizationStore(tables.service).add(organization)]);
  const { count } = usageMeter(tables.usage);
  const permit = await aPermit(organization.id);
  for (const [month, messages] of Object.entries(messagesIn)) {
    const createdAt = `${month}-15T12:00:00.000Z`;
    const events = Array.from({ length: messages }, () => aMeteredEvent({ createdAt }));
    await count([...events, aMeteredEvent({ type: 'conversation.created', createdAt })], permit);
  }
  return {
    id: organization.id,
    async read(query: Record<string, string> | null = null) {
      const token = await issuer.token(organization.id);
      const { statusCode, body } = await handler(
        aGatewayEvent({
          httpMethod: 'GET',
          path: '/api/settings/usage',
          headers: { authorization: `Bearer ${token}` },
          queryStringParameters: query,
          multiValueQueryStringParameters:
            query && Object.fromEntries(Object.entries(query).map(([name, value]) => [name, [value]])),
        }),
        INVOCATION,
      );
      return { status: statusCode, data: JSON.parse(body).data };
    },
  };
}

/** A test that runs over the end of a month sees two months, so it reads the month before and after. */
async function within<T>(look: (months: string[]) => Promise<T>): Promise<T> {
  const before = getLatestMonths(new Date(), 25);
  const seen = await look(before);
  const [now] = getLatestMonths(new Date(), 1);
  return now === before[0] ? seen : look(getLatestMonths(new Date(), 25));
}

describe('a read of the usage', () => {
  it('shows the requested months, newest first, including those without usage', async () => {
    await within(async (months) => {
      const [now = '', , before = '', , , long = ''] = months;
      const { id, read } = await anOrganizationWithUsage({ [now]: 3, [before]: 70, [long]: 1 });

      const { status, data } = await read({ months: '3' });

      expect(status).toBe(200);
      expect(data).toEqual({
        organizationId: id,
        months: [
          { month: now, conversations: 1, messages: 3 },
          { month: months[1], conversations: 0, messages: 0 },
          { month: before, conversations: 1, messages: 70 },
        ],
      });
    });
  });

  it.each([
    [null, 12],
    [{ months: '' }, 12],
    [{ months: '0' }, 1],
    [{ months: '-7' }, 1],
    [{ months: '1' }, 1],
    [{ months: '24' }, 24],
    [{ months: '1000' }, 24],
  ])('with %j shows %i months, the oldest of them included', async (query, count) => {
    await within(async (months) => {
      const oldest = months[count - 1] ?? '';
      const { read } = await anOrganizationWithUsage({ [oldest]: 1, [months[count] ?? '']: 5 });

      const { data } = await read(query);

      expect(data.months.map(({ month }: { month: string }) => month)).toEqual(months.slice(0, count));
      expect(data.months.at(-1)).toEqual({ month: oldest, conversations: 1, messages: 1 });
    });
  });

  it.each(['twelve', '1.5', '1e1', ' 3'])('refuses %j months', async (months) => {
    const { read } = await anOrganizationWithUsage({});
    expect((await read({ months })).status).toBe(400);
  });

  it('shows nothing of another organization', async () => {
    await within(async ([now = '']) => {
      await anOrganizationWithUsage({ [now]: 4 });
      const { read } = await anOrganizationWithUsage({});
      const { data } = await read({ months: '1' });
      expect(data.months).toEqual([{ month: now, conversations: 0, messages: 0 }]);
    });
  });
});
