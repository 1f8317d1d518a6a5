import { describe, expect, it } from 'vitest';
import { ticket } from '../../../lib/openapi/texts/tickets.ts';
import { conformance, operationFor, unknownFields } from '../../fuzz/conformance.ts';
import { readDocument } from '../../fuzz/document.ts';
import { apiClient } from '../../support/api.ts';
import type { Exchange } from '../../support/exchange.ts';
import { filled, withRealIds } from '../../support/resources.ts';

const document = readDocument();
const faultsOf = conformance(document);
const ID = '01a1f84b811a7000a000000000000001';

const common = {
  'content-type': 'application/json',
  'cache-control': 'no-store',
  'request-id': 'UKxQwG4jIAMEbRg=',
};

/** A correct answer to reading a ticket, with changes. */
const answer = (changes: Partial<Exchange> = {}): Exchange => ({
  sent: { method: 'GET', target: `/api/v1/tickets/tkt_${ID}`, headers: [] },
  status: 200,
  headers: { ...common, 'ratelimit-policy': '"scale";q=6000;w=60', ratelimit: '"scale";r=5999;t=60' },
  text: JSON.stringify({ success: true, data: ticket }),
  ...changes,
});

const error = (type: string, more: object = {}) =>
  JSON.stringify({ error: { type, message: 'No such ticket.', requestId: common['request-id'], ...more } });

describe('an answer as documented', () => {
  it.each([
    ['a success', answer()],
    ['an error', answer({ status: 404, text: error('NOT_FOUND') })],
    [
      'one that the gateway makes',
      answer({
        sent: { method: 'PUT', target: '/api/v1/tickets', headers: [] },
        status: 405,
        headers: common,
        text: error('METHOD_NOT_ALLOWED'),
      }),
    ],
  ])('has no faults: %s', (_, exchange) => {
    expect(faultsOf(exchange)).toEqual([]);
  });
});

describe('an answer that differs from the document', () => {
  const data = (changes: object) => JSON.stringify({ success: true, data: { ...ticket, ...changes } });

  it.each<[string, Partial<Exchange>, RegExp]>([
    ['a status', { status: 418 }, /418/],
    ['a status of another operation', { status: 422, text: error('IDEMPOTENCY_KEY_REUSED') }, /422/],
    ['a field more', { text: data({ orgId: `org_${ID}` }) }, /\/data\/orgId is not documented/],
    [
      'a field beside the data',
      { text: JSON.stringify({ success: true, data: ticket, debug: 1 }) },
      /\/debug/,
    ],
    ['a field in an error', { status: 404, text: error('NOT_FOUND', { stack: 'x' }) }, /\/error\/stack/],
    ['a field of another type', { text: data({ reason: 7 }) }, /\/data\/reason/],
    ['an identifier of another form', { text: data({ id: '7' }) }, /\/data\/id/],
    ['a field less', { text: data({ createdAt: undefined }) }, /createdAt/],
    ['another error type', { status: 404, text: error('CONFLICT') }, /type/],
    [
      'a code of a fault that the document does not name',
      {
        status: 400,
        text: error('VALIDATION_ERROR', { details: [{ field: 'x', code: 'wrong', message: 'is wrong' }] }),
      },
      /x-extensible-enum/,
    ],
    ['another request’s id', { status: 404, text: error('NOT_FOUND', { requestId: 'x' }) }, /requestId/],
    [
      'no id',
      {
        headers: { ...answer().headers, 'request-id': '' },
        status: 404,
        text: error('NOT_FOUND'),
      },
      /requestId/,
    ],
    ['a header that is for others', { headers: { ...answer().headers, 'retry-after': '1' } }, /retry-after/],
    ['leave to cache', { headers: { ...answer().headers, 'cache-control': 'public' } }, /cache/],
    ['another media type', { headers: { ...answer().headers, 'content-type': 'text/html' } }, /text\/html/],
    ['no JSON', { text: '<html>' }, /JSON/],
    [
      'a word of the inside',
      { status: 404, text: error('NOT_FOUND', { message: 'DynamoDB said no' }) },
      /inside/,
    ],
  ])('has faults: %s', (_, changes, fault) => {
    expect(faultsOf(answer(changes)).join('; ')).toMatch(fault);
  });

  it('has no fault where a message repeats an unknown name that the caller sent, and one where it does not', () => {
    const message = 'undefined is not a known parameter.';
    const details = [{ field: 'undefined', code: 'unknown_field', message: 'is not a known parameter' }];
    const refused = { status: 400, text: error('VALIDATION_ERROR', { message, details }) };
    const { sent } = answer();
    const named = { ...sent, target: `${sent.target}?undefined=` };
    const ofMessage = (fault: string) => fault.includes('inside');
    expect(faultsOf(answer({ ...refused, sent: named })).filter(ofMessage)).toEqual([]);
    expect(faultsOf(answer(refused)).filter(ofMessage)).toHaveLength(1);
  });

  it('has faults: a missing required header', () => {
    const { 'request-id': _, ...headers } = answer().headers;
    expect(faultsOf(answer({ headers })).join()).toMatch(/request-id is missing/);
  });
});

describe('an object with any names', () => {
  const schema = {
    type: 'object',
    additionalProperties: { type: 'object', properties: { known: { type: 'string' } } },
  };

  it('has no unknown fields except those below them', () => {
    expect(unknownFields(schema, { any: { known: 'x' }, toString: {} })).toEqual([]);
    expect(unknownFields(schema, { any: { other: 'x' } })).toEqual(['/any/other']);
  });
});

describe('the operation of a request', () => {
  const idOf = (method: string, target: string) =>
    operationFor(document, { method, target, headers: [] })?.id;

  it.each([
    ['GET', '/api/v1/tickets', 'listTickets'],
    ['GET', '/api/v1/tickets?limit=%zz', undefined],
    ['GET', '/api/v1/tickets/', undefined],
    ['GET', '/api/v1/tickets/anything%2Fat all', 'readTicket'],
    ['GET', '/api/v1/tickets/%C3%28', undefined],
    ['HEAD', '/api/v1/tickets', undefined],
    ['POST', `/api/v1/webhooks/whk_${ID}/test`, 'testWebhook'],
  ])('%s %s is %s', (method, target, id) => {
    expect(idOf(method, target)).toBe(id);
  });
});

describe('a path or body of an unknown field', () => {
  const api = apiClient({ BASE_URL: 'http://127.0.0.1', API_KEY: '' });
  const clients = { api, admin: api, receiver: '' };

  it('causes an error with the place to add it', async () => {
    await expect(filled(clients, '/api/v1/invoices/{id}')).rejects.toThrow(/\{id\} of .*resources\.ts/);
    await expect(withRealIds(clients, { sourceId: `src_${ID}` })).rejects.toThrow(/src_.*resources\.ts/);
  });
});
