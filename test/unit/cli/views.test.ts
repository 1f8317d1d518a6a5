import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { styleText } from 'node:util';
import type { Paint } from 'terminal/paint.ts';
import { describe, expect, it } from 'vitest';
import { renderFinding } from '../../../packages/cli/src/certify/command.ts';
import * as conversationsView from '../../../packages/cli/src/conversations/view.ts';
import * as deliveryView from '../../../packages/cli/src/delivery-view.ts';
import * as endpointsView from '../../../packages/cli/src/endpoints/view.ts';
import * as explanations from '../../../packages/cli/src/events/explain.ts';
import * as eventsView from '../../../packages/cli/src/events/view.ts';
import { renderBody } from '../../../packages/cli/src/json-view.ts';
import { renderCount } from '../../../packages/cli/src/recover/command.ts';
import { renderError } from '../../../packages/cli/src/report.ts';
import { runCommand } from '../../../packages/cli/src/run.ts';
import { ApiError, type DataOf } from '../../../packages/sdk/src/index.ts';
import { aDelivery } from './received-delivery.ts';

const ROOT = join(import.meta.dirname, '../../..');
const BASE_URL = 'https://api.example.com';
const AT = new Date('2026-11-20T09:30:00.000Z');

/** Every view of the command line, with a text that others wrote wherever there can be one. */
const VIEWS: Record<string, (text: string, paint: Paint) => string> = {
  renderAnswer: (text, paint) =>
    deliveryView.renderAnswer(
      { receivedAt: AT, headers: { 'webhook-delivery-id': text } },
      { status: 200 },
      AT,
      paint,
    ),
  renderBody: (text, paint) =>
    [JSON.stringify({ [text]: text }), text].map((body) => renderBody(Buffer.from(body), paint)).join(),
  renderConversation: (text, paint) =>
    conversationsView.renderConversation(
      aConversation(text),
      [filledWith(text, { id: '…', role: '…', content: '…', createdAt: '…' })],
      paint,
    ),
  renderConversationLine: (text, paint) =>
    conversationsView.renderConversationLine(aConversation(text), paint),
  renderCount: (text, paint) =>
    renderCount(
      filledWith<DataOf<'startRedelivery'>>(text, {
        redelivered: 1,
        eventTypes: [{ type: '…', count: 1 }],
        from: '…',
        to: '…',
      }),
      paint,
    ),
  renderDelivery: (text, paint) =>
    deliveryView.renderDelivery(
      aDelivery({
        headers: { 'webhook-id': text, 'webhook-delivery-id': text, 'webhook-attempt': text },
        path: text,
        method: text,
        body: Buffer.from(text),
        verification: { kind: 'refused', reason: text },
      }),
      true,
      paint,
    ),
  renderEndpoint: (text, paint) => endpointsView.renderEndpoint(anEndpoint(text), STATS, paint),
  renderEndpoints: (text, paint) => endpointsView.renderEndpoints([anEndpoint(text)], paint),
  renderError: (text, paint) =>
    [anError(text), new Error(text)].map((error) => renderError(error, paint)).join(),
  renderEvent: (text, paint) => eventsView.renderEvent(anEvent(text), BASE_URL, paint),
  renderEventLine: (text, paint) => eventsView.renderEventLine(anEvent(text), paint),
  renderExplanation: (text, paint) =>
    explanations
      .explainEvent(anEvent(text), BASE_URL)
      .map((explanation) => explanations.renderExplanation(explanation, paint))
      .join(),
  renderFinding: (text, paint) =>
    renderFinding(
      {
        rule: 'valid',
        passed: false,
        trials: [{ eventId: text, expected: '2xx', status: null, error: text, durationMs: 1 }],
        remedy: 'What to do.',
      },
      paint,
    ),
};

const anError = (text: string) =>
  new ApiError({
    status: 400,
    type: text as ApiError['type'],
    message: text,
    requestId: text,
    details: [{ field: text, message: text }] as unknown as ApiError['details'],
    retryAfterSeconds: undefined,
  });

/** Any value of a fixture that a view reads as text is the given one. */
const filledWith = <T>(text: string, value: object): T =>
  JSON.parse(JSON.stringify(value), (_, part) => (part === '…' ? text : part)) as T;

const anEvent = (text: string) =>
  filledWith<explanations.EventDetails>(text, {
    id: '…',
    type: '…',
    createdAt: '…',
    schemaVersion: 1,
    payload: '…',
    data: { conversationId: '…' },
    deliveries: [
      {
        id: '…',
        webhookId: '…',
        url: '…',
        status: '…',
        terminalReason: '…',
        nextRetryAt: '…',
        nextRetryReason: '…',
        redeliveryOf: '…',
        attemptLog: [
          {
            ...{ number: 1, startedAt: '…', durationMs: 1, status: null },
            ...{ error: '…', errorCode: '…', response: '…' },
          },
        ],
      },
    ],
    undelivered: [{ webhookId: '…', url: '…', reason: '…' }],
  });
const aConversation = (text: string) =>
  filledWith<DataOf<'readConversation'>>(text, {
    id: '…',
    status: '…',
    channelId: '…',
    externalUserId: '…',
    createdAt: '…',
  });
const anEndpoint = (text: string) =>
  filledWith<endpointsView.Endpoint>(text, {
    id: '…',
    url: '…',
    status: 'auto_disabled',
    disabledAt: '…',
    disabledReason: '…',
    events: ['…'],
    filter: { channelIds: ['…'], roles: ['…'] },
    description: '…',
    maxPerSecond: null,
    createdAt: '…',
    failing: null,
  });
const STATS = {
  totals: { owed: 0, succeeded: 0, pending: 0, exhausted: 0, skipped: 0 },
  latency: null,
} as endpointsView.EndpointCounts;
/** Moves a cursor, colours, hides, and turns the direction of text. */
const HOSTILE = '\u001b[31m\u009b2J\u0007\u202e\u2066\u200f\u061c\u2028\ufeff\u{e0041}';
/** Characters that must not reach a terminal from a text of others, other than line breaks. */
const CONTROL = /[^\P{C}\n]|[\u2028\u2029]/u;

it('the table has every view', () => {
  const views = globSync('packages/cli/src/**/*.ts', { cwd: ROOT }).flatMap((path) =>
    [
      ...readFileSync(join(ROOT, path), 'utf8').matchAll(
        /export function (render\w+)\((?:[^)]|\)(?!: string))*paint: Paint/g,
      ),
    ].map(([, name]) => name),
  );
  expect(views.toSorted()).toEqual(Object.keys(VIEWS));
});

describe.each(Object.entries(VIEWS))('%s', (_name, render) => {
  it('shows no control character of a text', () => {
    expect(render(HOSTILE, (_style, text) => `«${text}»`)).not.toMatch(CONTROL);
  });

  it('shows its colours as colours', () => {
    const shown = render('text', (style, text) => styleText(style, text, { validateStream: false }));
    expect(shown).not.toContain('\\u');
  });
});

describe('--json', () => {
  it('escapes what a terminal would obey, as JSON does', async () => {
    const [stdin, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()];
    const context = { variables: {}, cwd: '.', stdin, stdout, stderr, signal: new AbortController().signal };
    await runCommand({ json: true }, context, async (printer) => printer.result({ text: HOSTILE }, () => ''));
    await runCommand({ json: true }, context, async () => {
      throw anError(HOSTILE);
    });
    const [result = '', error = ''] = [String(stdout.read()), String(stderr.read())];
    expect(`${result}${error}`).not.toMatch(CONTROL);
    expect([JSON.parse(result), JSON.parse(error).error.message]).toEqual([{ text: HOSTILE }, HOSTILE]);
  });
});
