import { randomBytes, randomUUID } from 'node:crypto';
import { until } from 'aws-local/test/until.ts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { WORKERS } from '../../../../lib/infra/bundle.ts';
import { type Answer, startReceiver } from '../../../../packages/cli/src/receiver/receiver.ts';
import { type Operation, readDocument } from '../../../fuzz/document.ts';
import { type Canary, canary, leaks } from '../../../support/canaries.ts';
import { casesOf } from '../../../support/cases.ts';
import type { Sent } from '../../../support/exchange.ts';
import { reusing } from '../../../support/resources.ts';
import type { Tenant } from '../../../support/tenant.ts';
import { aPlace } from '../place.ts';
import { validRequest, withBody, withHeaders } from './requests.ts';

/** Everything that the tests send, store, fetch and answer; each is a distinct text. */
const CANARIES = {
  key: canary('an API key'),
  visitorToken: canary('a token of a visitor'),
  session: canary('a session'),
  cookie: canary('a cookie'),
  header: canary('a header'),
  idempotencyKey: canary('an Idempotency-Key'),
  query: canary('a query'),
  path: canary('a path'),
  body: canary('a body'),
  brokenBody: canary('a body that is no JSON'),
  trace: canary('a trace id of a caller'),
  content: canary('the content of a message'),
  person: canary('an external user'),
  reason: canary('a reason'),
  receiverQuery: canary('the query of a receiver’s URL'),
  answer: canary('the answer of a receiver'),
  answerHeader: canary('a header of the answer of a receiver'),
  sourceQuery: canary('the query of a source’s URL'),
  source: canary('the content of a source'),
  stored: canary('a stored row'),
  event: canary('what a worker is invoked with'),
} as const;
const ALL: readonly Canary[] = Object.values(CANARIES);

/*
 * At level DEBUG the logs of all functions contain no customer data, and a call can be followed from start to
 * end.
 */
const place = aPlace();
const document = readDocument();
/** Operations of sessions and of keys share their functions. */
const OPERATIONS = casesOf(
  document.operations.filter(({ id, firstId }) => id === firstId),
  document.operations,
);

describe('the logs', () => {
  let tenant: Tenant;
  let reader: Tenant;

  beforeAll(async () => {
    tenant = await place.tenant();
    reader = reusing(tenant);
  });

  const readLines = (since = 0) =>
    place
      .log()
      .slice(since)
      .map(({ text }) => text);
  // Includes the lines of work that the tests started and that ended later.
  afterAll(() => expect(leaks(ALL, readLines()).slice(0, 5)).toEqual([]));

  const findLines = (code: string) =>
    readLines().filter((line) => line.includes(`"${code}"`) && line.includes(tenant.orgId));

  const turns = OPERATIONS.map((operation, turn) => ({ ...operation, turn }));

  it.each(turns)('contain nothing of what $id is sent, valid or invalid', async (operation) => {
    const since = place.log().length;
    const caller = operation.method === 'GET' ? reader : tenant;
    for (const sent of await withCanaries(
      operation,
      caller,
      casesOf<number | undefined>(operation.turn, undefined),
    ))
      await place.connection().send(sent);
    expect(leaks(ALL, readLines(since))).toEqual([]);
  });

  it('contain nothing of conversations, receivers, their answers, sources and stored rows when a part fails', async () => {
    const since = place.log().length;
    const { tls } = place.service();
    const { url, stop } = await startReceiver({
      ...tls,
      respond: ({ method }): Answer =>
        method === 'GET'
          ? { status: 200, headers: { 'content-type': 'text/html' }, body: buildPage(CANARIES.source.text) }
          : { status: 500, headers: { 'x-answer': CANARIES.answerHeader.text }, body: CANARIES.answer.text },
    });
    try {
      const { secret } = await tenant.api.register(`${url}/hooks?token=${CANARIES.receiverQuery.text}`, [
        'conversation.created',
        'message.received',
        'ticket.created',
      ]);
      const failedBefore = findLines('ATTEMPT_FAILED').length;
      const conversation = await tenant.api.post('/api/v1/conversations', {
        channelId: 'web',
        externalUserId: `${CANARIES.person.text}@example.com`,
      });
      const path = `/api/v1/conversations/${conversation.body.data?.id}`;
      await tenant.api.post(`${path}/messages`, { role: 'user', content: CANARIES.content.text });
      await tenant.api.post('/api/v1/tickets', { reason: CANARIES.reason.text });
      const source = await tenant.api.post('/api/v1/knowledge/sources', {
        kind: 'url',
        url: `${url}/handbook?token=${CANARIES.sourceQuery.text}`,
      });
      expect([conversation.status, source.status]).toEqual([201, 201]);
      await until('the attempts to fail', () => findLines('ATTEMPT_FAILED').length >= failedBefore + 3);
      await until('the source to be checked', async () => {
        const { body } = await tenant.api.get(`/api/v1/knowledge/sources/${source.body.data?.id}`);
        return body.data?.lastCheckedAt;
      });
      await withUnreadableAttribute(path, 'status', async () => {
        expect((await tenant.api.get(path)).status).toBe(500);
      });
      const secrets = [
        { name: 'the key of an organization', text: tenant.key },
        { name: 'a signing secret', text: secret },
        { name: 'a session of an admin', text: tenant.session },
      ];
      await until('the failure to be logged', () => findLines('REQUEST_FAILED').length > 0);
      expect(leaks([...ALL, ...secrets], readLines(since))).toEqual([]);
    } finally {
      await stop();
    }
  });

  /** Makes an attribute of a stored row unreadable during a call. */
  async function withUnreadableAttribute(
    path: string,
    attribute: string,
    during: () => Promise<void>,
  ): Promise<void> {
    const id = path.slice(path.lastIndexOf('/') + 1);
    const row = (await place.service().rows()).find(({ item }) => item.id === id && attribute in item);
    if (row === undefined) throw new Error(`there is no row of ${id}`);
    await place.service().rewrite({ ...row, item: { ...row.item, [attribute]: CANARIES.stored.text } });
    try {
      await during();
    } finally {
      await place.service().rewrite(row);
    }
  }

  it.each(WORKERS)('contain nothing of an invalid event that %s is invoked with', async (name) => {
    // The worker may fail, return a part or drop the event: only the log matters.
    const since = place.log().length;
    for (const event of foreignEvents(CANARIES.event.text))
      await place
        .service()
        .invoke(name, event)
        .catch(() => undefined);
    expect(leaks(ALL, readLines(since))).toEqual([]);
  });

  it('contain no e-mail address of the recipients', async () => {
    const { receiver } = place.service();
    const { id: webhookId } = await tenant.api.register(receiver, ['ticket.created']);
    const disabledAt = new Date().toISOString();
    const detail = {
      id: `${webhookId}#disabled`,
      type: 'webhook.disabled',
      orgId: tenant.orgId,
      generation: 0,
      createdAt: disabledAt,
      data: { webhookId, disabledAt, lastError: 'the receiver answered 500' },
    };
    const attributes = { ApproximateReceiveCount: '1' };
    await place
      .service()
      .invoke('notify', { Records: [{ messageId: 'one', body: JSON.stringify({ detail }), attributes }] });
    const mails = await place.service().mails();
    const address = `admin@${tenant.orgId}.test`;
    expect(mails.some(({ to }) => to.includes(address))).toBe(true);
    expect(leaks([{ name: 'an e-mail address', text: address }], readLines())).toEqual([]);
  });

  it('show one API call by its trace id, from its function through the fan-out to the attempt', async () => {
    await tenant.api.register(place.service().receiver, ['conversation.created']);
    const traceId = `1-${Math.floor(Date.now() / 1000).toString(16)}-${randomBytes(12).toString('hex')}`;
    const { status } = await tenant.api.post(
      '/api/v1/conversations',
      { channelId: 'web', externalUserId: 'ada' },
      { 'x-amzn-trace-id': `Root=${traceId};Parent=53995c3f42cd8ad8;Sampled=1` },
    );
    expect(status).toBe(201);
    const ways = [
      ['create-conversation', 'REQUEST_ANSWERED'],
      ['fan-out', 'EVENT_FANNED_OUT'],
      ['dispatch', 'ATTEMPT_SUCCEEDED'],
    ];
    // Each function has an output of its own, and the fan-out may end after the attempt.
    const lines = await until('the trace to be in all three logs', () => {
      const lines = readLines()
        .filter((line) => line.includes(traceId))
        .map((line) => JSON.parse(line));
      return ways.every(([, code]) => lines.some((line) => line.code === code)) && lines;
    });
    for (const [service, code] of ways)
      expect(lines).toContainEqual(expect.objectContaining({ service, code, traceId }));
  });
});

/**
 * Requests of an operation with canaries in every part that can carry one.
 * @param turn chooses one of the credentials, which the same code reads for every operation; all without it
 */
async function withCanaries(operation: Operation, tenant: Tenant, turn?: number): Promise<Sent[]> {
  const valid = await validRequest(operation, tenant);
  const marked = withHeaders(valid, {
    Cookie: `__Host-session=${CANARIES.cookie.text}`,
    'User-Agent': CANARIES.header.text,
    'X-Forwarded-For': CANARIES.header.text,
    'X-Amzn-Trace-Id': `Root=${CANARIES.trace.text}`,
  });
  const separator = valid.target.includes('?') ? '&' : '?';
  const query = `${separator}cursor=${CANARIES.query.text}&limit=${CANARIES.query.text}`;
  const credentials = [
    `Bearer ck_live_${CANARIES.key.text}`,
    `Bearer cvt_${CANARIES.visitorToken.text}`,
    `Bearer ${forgeSession(CANARIES.session.text)}`,
  ];
  return [
    ...credentials
      .filter((_, index) => turn === undefined || index === turn % credentials.length)
      .map((Authorization) => withHeaders(marked, { Authorization })),
    { ...marked, target: `${valid.target}${query}` },
    { ...marked, target: valid.target.replace(/(?<=[a-z]{3}_)[0-9a-f]{32}/, CANARIES.path.text) },
    withHeaders(marked, { 'Idempotency-Key': CANARIES.idempotencyKey.text }),
    ...(valid.body === undefined
      ? []
      : [
          withBody(marked, `{"name":"${CANARIES.brokenBody.text}`),
          withBody(fresh(marked), JSON.stringify(withTexts(JSON.parse(valid.body), CANARIES.body.text))),
          withBody(fresh(marked), JSON.stringify({ [CANARIES.body.text]: CANARIES.body.text })),
        ]),
  ];
}

const fresh = (sent: Sent): Sent =>
  sent.headers.some(([name]) => name === 'Idempotency-Key')
    ? withHeaders(sent, { 'Idempotency-Key': randomUUID() })
    : sent;

/** Has the form of a token of the issuer, with an invalid signature. */
const forgeSession = (text: string): string =>
  [{ alg: 'RS256', kid: text }, { sub: text, email: `${text}@example.com` }, text]
    .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
    .join('.');

/** Appends the text to every string, so that formatted strings become invalid. */
function withTexts(value: unknown, text: string): unknown {
  if (typeof value === 'string') return `${value} ${text}`;
  if (Array.isArray(value)) return value.map((each) => withTexts(each, text));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, withTexts(each, text)]));
}

/**
 * Events that no worker is sent: without a valid form, with unreadable fields, and about unknown resources.
 */
function foreignEvents(text: string): unknown[] {
  const bodies = [
    text,
    `{"id":"${text}`,
    JSON.stringify({ [text]: text }),
    JSON.stringify({ id: text, orgId: text, detail: { id: text, type: text, data: { [text]: text } } }),
    JSON.stringify({ kind: text, keys: [text], requestContext: { [text]: text } }),
  ];
  const image = { pk: { S: text }, kind: { S: text }, body: { S: text }, [text]: { S: text } };
  return [
    text,
    { [text]: text },
    { Records: text },
    { Records: [{ [text]: text }] },
    { name: 1, tier: text, scopes: [text] },
    {
      Records: bodies.map((body, index) => ({
        messageId: `message-${index}`,
        receiptHandle: 'a-receipt',
        body,
        attributes: {},
        eventSourceARN: 'arn:aws:sqs:us-east-1:000000000000:queue',
      })),
    },
    {
      shardId: 'shard-1',
      Records: [
        { eventName: 'INSERT', dynamodb: { SequenceNumber: '1', NewImage: image } },
        { eventName: 'INSERT', dynamodb: { SequenceNumber: '2', NewImage: { pk: { [text]: text } } } },
        { eventName: 'MODIFY', dynamodb: { SequenceNumber: '3' } },
      ],
    },
  ];
}

const buildPage = (text: string): string =>
  `<!doctype html><html lang="en"><head><title>${text}</title></head><body><article><h1>${text}</h1><p>${`${text} `.repeat(60)}</p></article></body></html>`;
