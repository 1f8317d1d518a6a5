import { TransactionCanceledException } from '@aws-sdk/client-dynamodb';
import { describe, expect, it } from 'vitest';
import { FAILED_INVOCATIONS } from '../../../functions/aws/metrics.ts';
import { gatewayHandler, isTransient } from '../../../functions/http/lifecycle.ts';
import { refusals } from '../../../functions/http/problem.ts';
import { success } from '../../../functions/http/reply.ts';
import { generateApiKey, hashApiKey } from '../../../functions/tenancy/api-keys.ts';
import { GateClosed } from '../../../functions/tenancy/gate.ts';
import { aGatewayEvent, INVOCATION } from '../../support/functions.ts';
import { publishedDuring } from '../aws/capturing-logger.ts';
import { aRequest, createThing, createThingWith, envelope, send, thingRoute } from './call.ts';
import { inMemory } from './in-memory.ts';

const named = (name: string): Error => Object.assign(new Error('canary'), { name });

describe('a closed gate', () => {
  it.each([
    ['because an organization could not be read for now', named('ThrottlingException'), true],
    ['because of a defect', new Error('canary'), false],
    ['because nothing clear is known', undefined, false],
  ])('%s', (_, cause, transient) => {
    expect(isTransient(new GateClosed('closed', { cause }))).toBe(transient);
  });
});

describe('an unexpected failure', () => {
  const failures: [string, unknown][] = [
    ['an error', new Error('canary')],
    ['a type error', new TypeError('canary')],
    ['an error with a cause', new Error('canary', { cause: new Error('canary') })],
    ['text', 'canary'],
    ['an object', { message: 'canary', headers: { canary: 'canary' }, statusCode: 418 }],
  ];

  it.each(failures)('is a 500 without internal details: %s', async (_, thrown) => {
    const service = inMemory();
    const { status, headers, body, text } = await send(thingRoute, service, aRequest(service), async () => {
      throw thrown;
    });
    expect(status).toBe(500);
    expect(body).toEqual(envelope('INTERNAL_ERROR'));
    expect(headers).toMatchObject({ 'Request-Id': 'extended-request-id' });
    expect(text + JSON.stringify(headers)).not.toContain('canary');
  });

  it('is logged with its request', async () => {
    const service = inMemory();
    await send(thingRoute, service, aRequest(service), async () => {
      throw new Error('the inside');
    });
    expect(service.logger.lines).toMatchObject([
      {
        level: 'ERROR',
        requestId: 'extended-request-id',
        route: 'create-thing',
        orgId: service.key.orgId,
        keyId: service.key.id,
        code: 'REQUEST_FAILED',
        error: {
          name: 'Error',
          frames: expect.arrayContaining([expect.stringContaining('lifecycle.test.ts')]),
        },
      },
    ]);
  });

  it('is a 500 in the key lookup, the idempotency store, the commit and the completion of an answer', async () => {
    const fail = async () => {
      throw new Error('canary');
    };
    const [keys, memory, commit] = [inMemory(), inMemory(), inMemory()];
    keys.lookup.find = fail;
    memory.ports.idempotency.find = fail;
    memory.refusal = 'idempotency-key-used';
    commit.ports.commit = fail;
    const revealing = inMemory();
    const answers = [
      ...(await Promise.all([keys, memory, commit].map((service) => createThingWith({}, service)))),
      await send(thingRoute, revealing, aRequest(revealing), createThing(), fail),
    ];
    for (const answer of answers) {
      expect(answer).toMatchObject({ status: 500, body: envelope('INTERNAL_ERROR') });
      expect(answer.text).not.toContain('canary');
    }
  });

  it('is an answer without a field that its route declares', async () => {
    const service = inMemory();
    const { status, text } = await send(thingRoute, service, aRequest(service), async () =>
      success({ nickname: 'canary' }),
    );
    expect(status).toBe(500);
    expect(text).not.toContain('canary');
  });

  it('is a refusal that the use case did not expect', async () => {
    const service = inMemory();
    service.refusal = 'lease-lost';
    expect(await createThingWith({}, service)).toMatchObject({
      status: 500,
      body: envelope('INTERNAL_ERROR'),
    });
  });
});

describe('a dependency that throttles or is down', () => {
  it('is a 503 with a Retry-After, without internal details', async () => {
    const service = inMemory();
    service.ports.commit = async () => {
      throw named('ProvisionedThroughputExceededException');
    };
    const { status, headers, body, text } = await createThingWith({}, service);
    expect(status).toBe(503);
    expect(body).toEqual(envelope('SERVICE_UNAVAILABLE'));
    expect(headers).toMatchObject({
      'Retry-After': expect.stringMatching(/^[1-9]\d*$/),
      'Request-Id': 'extended-request-id',
    });
    expect(text).not.toContain('canary');
  });
});

describe('a retryable failure', () => {
  it.each([
    'Contended',
    'InternalServerError',
    'ProvisionedThroughputExceededException',
    'RequestLimitExceeded',
    'ThrottlingException',
    'TimeoutError',
    'TransactionConflictException',
    'TransactionInProgressException',
  ])('is an error named %s', (name) => {
    expect(isTransient(named(name))).toBe(true);
  });

  it.each(['ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'ETIMEDOUT', 'EAI_AGAIN'])(
    'is an error of the network with the code %s',
    (code) => {
      expect(isTransient(Object.assign(new Error('x'), { code }))).toBe(true);
    },
  );

  it('is what the SDK calls retryable, and what a service answers with a 5xx', () => {
    expect(isTransient(Object.assign(new Error('x'), { $retryable: {} }))).toBe(true);
    expect(isTransient(Object.assign(new Error('x'), { $metadata: { httpStatusCode: 503 } }))).toBe(true);
  });

  it.each([
    ['a defect', new TypeError('x')],
    ['a refused permission', named('AccessDeniedException')],
    ['a request that the service finds wrong', named('ValidationException')],
    ['a 4xx of a service', Object.assign(new Error('x'), { code: 'E', $metadata: { httpStatusCode: 400 } })],
    [
      'a cancelled transaction',
      new TransactionCanceledException({ message: 'x', $metadata: { httpStatusCode: 400 } }),
    ],
    ['no error at all', 'ThrottlingException'],
    ['nothing', undefined],
  ])('is not %s', (_, thrown) => {
    expect(isTransient(thrown)).toBe(false);
  });
});

describe('a function that serves everybody', () => {
  const page = { statusCode: 200, headers: { 'Content-Type': 'text/html' }, body: 'a page' };

  async function call(serve: Parameters<typeof gatewayHandler>[1], path = '/docs') {
    const event = aGatewayEvent({ httpMethod: 'GET', path, resource: '/docs' });
    const handler = gatewayHandler({ name: 'docs' }, serve, inMemory().logger);
    const { statusCode, headers, body } = await handler(event, INVOCATION);
    return { status: statusCode, type: statusCode < 400 ? body : JSON.parse(body).error.type, headers };
  }

  it('answers what it serves, and problems in the envelope with their headers', async () => {
    expect(await call(async () => page)).toMatchObject({ status: 200, type: 'a page' });
    expect(await call(async () => refusals.recentSync(3))).toMatchObject({
      status: 429,
      type: 'RATE_LIMITED',
      headers: { 'Retry-After': '3', 'Request-Id': expect.any(String) },
    });
  });

  it('is 404 for a path with surplus slashes', async () => {
    expect(await call(async () => page, '/docs/')).toMatchObject({ status: 404, type: 'NOT_FOUND' });
  });

  it('is 500 in the envelope when it fails, which is counted', async () => {
    const broken = async () => {
      throw new Error('the file is gone');
    };
    const metrics = await publishedDuring(async () => {
      expect(await call(broken)).toMatchObject({ status: 500, type: 'INTERNAL_ERROR' });
    });
    expect(metrics).toMatchObject({ [FAILED_INVOCATIONS]: 1 });
  });
});

describe('the log of a request', () => {
  it('has its id, route, organization and key, and nothing of the payload', async () => {
    const service = inMemory();
    const body = JSON.stringify({ name: 'canary' });
    await send(thingRoute, service, aRequest(service, { body }), async () => {
      service.logger.log('CHECK_TOO_LATE', {});
      throw new Error('failed');
    });
    const { orgId, id: keyId } = service.key;
    for (const line of service.logger.lines)
      expect(line).toMatchObject({ requestId: 'extended-request-id', route: 'create-thing', orgId, keyId });
    const text = JSON.stringify(service.logger.lines);
    expect(text).not.toContain('canary');
    expect(text).not.toContain(service.secret);
    expect(text).not.toContain(hashApiKey(service.secret));
  });

  it('does not have the organization of an earlier request of the same process', async () => {
    const service = inMemory();
    await createThingWith({}, service);
    service.lookup.find = async () => {
      throw new Error('the lookup failed');
    };
    await createThingWith({ headers: { Authorization: `Bearer ${generateApiKey('live')}` } }, service);
    const last = service.logger.lines.at(-1);
    expect(last).toMatchObject({ level: 'ERROR', route: 'create-thing' });
    expect(last).not.toHaveProperty('orgId');
    expect(last).not.toHaveProperty('keyId');
  });
});
