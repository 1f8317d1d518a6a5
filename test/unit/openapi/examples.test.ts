import fc from 'fast-check';
import { Webhook } from 'standardwebhooks';
import { describe, expect, it } from 'vitest';
import { routes } from '../../../functions/api/routes.ts';
import { deriveDeliveryId, parseCreationTime } from '../../../functions/aws/ids.ts';
import { completeHeaders } from '../../../functions/delivery/outbound/exchange.ts';
import { checkProgram, parseProgram, simulate } from '../../../functions/delivery/simulation.ts';
import { SubscribableType } from '../../../functions/events/events.ts';
import type { Route } from '../../../functions/http/route.ts';
import { eventExample } from '../../../lib/openapi/events.ts';
import * as examples from '../../../lib/openapi/example-values.ts';
import { jsonText } from '../../../lib/openapi/json-text.ts';
import { OPERATIONS } from '../../../lib/openapi/operations.ts';
import * as sandboxExamples from '../../../lib/openapi/sandbox-examples.ts';
import { EVENT_TYPES } from '../../../lib/openapi/schemas.ts';
import { withSessionRoutes } from '../../../lib/openapi/session-routes.ts';
import { dashboard, document, examplesIn, violations } from './examples.ts';

const operations = Object.entries(routes) as [keyof typeof OPERATIONS, Route][];

describe('every example of the documents', () => {
  const examples = [...examplesIn(document), ...examplesIn(dashboard)];

  it('is found: of each request, answer, problem, event, parameter and id', () => {
    const places = examples.map(({ place }) => place).join('\n');
    expect(examples.length).toBeGreaterThan(150);
    for (const [, { method, path, success }] of Object.entries(withSessionRoutes(routes)).filter(
      ([, route]) => route.success.status !== 204,
    ))
      expect(places).toContain(
        `#/paths//api${path}/${method.toLowerCase()}/responses/${success.status}/content/application/json/example`,
      );
    for (const type of EVENT_TYPES) expect(places).toContain(`#/webhooks/${type}/post/requestBody`);
  });

  it.each(examples.map((example) => [example.place, example] as const))(
    '%s matches its schema',
    (_, example) => {
      expect(violations(example.schema, example.value)).toEqual([]);
    },
  );

  it('that is invalidated does not match its schema', () => {
    const answer = examples.find(({ place }) =>
      place.endsWith('get/responses/200/content/application/json/example'),
    );
    expect(violations(answer?.schema ?? {}, { success: 'yes', data: 7 })).not.toEqual([]);
  });
});

// A visitor's token is not stored, and has no URL of its own (RFC 9110, 15.3.2).
describe.each(operations)('the example of %s', (key, route) => {
  const { body, data, sandbox, location } = OPERATIONS[key];

  it('has a body exactly when the route takes one, and the route accepts it', () => {
    expect(body !== undefined).toBe(route.body !== undefined);
    if (route.body) expect(route.body.safeParse(body).success).toBe(true);
  });

  it('has data exactly when the answer does, and the answer contains exactly that', () => {
    expect(data !== undefined).toBe(route.success.status !== 204);
    if (data !== undefined) expect(route.success.data.parse(data)).toEqual(data);
    if (sandbox !== undefined) expect(route.success.data.parse(sandbox)).toEqual(sandbox);
  });

  it('has the Location of the created resource', () => {
    // Neither can be read alone.
    const isAlone = key !== 'createVisitorToken' && key !== 'createWidgetMessage';
    if (route.success.status === 201) expect(location !== undefined).toBe(isAlone);
    if (location !== undefined && route.success.status !== 204) {
      // The created resource, which may have more fields than the answer.
      const { key: made = data } = Object(data);
      const [id] = Object.values(Object(made) as Record<string, unknown>);
      expect(location).toMatch(/^\/api\/(v1|settings)\//);
      expect(location.endsWith(`/${id}`)).toBe(true);
    }
  });
});

describe('the example values', () => {
  const ids = (node: unknown): { id: string; createdAt: string }[] => {
    if (typeof node !== 'object' || node === null) return [];
    const { id, createdAt } = node as Record<string, unknown>;
    const own = typeof id === 'string' && typeof createdAt === 'string' ? [{ id, createdAt }] : [];
    return [...own, ...Object.values(node).flatMap(ids)];
  };

  it('include ids with the time of creation, in a delivery’s with that of its event', () => {
    const all = ids(Object.values(OPERATIONS).map(({ data, sandbox }) => [data, sandbox]));
    expect(all.length).toBeGreaterThan(20);
    for (const { id, createdAt } of all) {
      const late =
        Date.parse(createdAt) - parseCreationTime(id as Parameters<typeof parseCreationTime>[0]).getTime();
      expect(late, id).toBeGreaterThanOrEqual(0);
      expect(late, id).toBeLessThan(id.startsWith('dlv_') ? 1000 : 1);
    }
  });

  it('include deliveries of the example events to the example endpoint', () => {
    for (const { id, eventId, webhookId, eventType } of [
      examples.succeededDelivery,
      examples.retryingDelivery,
    ]) {
      expect(id).toBe(deriveDeliveryId(eventId, webhookId));
      expect(examples.webhook.events).toContain(eventType);
      expect(SubscribableType.options).toContain(eventType);
    }
  });

  it('include an attempt log that matches its delivery', () => {
    const { attemptLog, attempts, lastError, lastResponseStatus, nextRetryAt } =
      examples.retryingDeliveryWithAttempts;
    const ends = attemptLog.map(({ startedAt, durationMs }) => Date.parse(startedAt) + durationMs);
    expect(attemptLog).toHaveLength(attempts);
    expect(attemptLog.at(-1)).toMatchObject({ error: lastError, status: lastResponseStatus });
    // 30 s after the first attempt, 60 s after the second (docs/specification.md, Retries).
    expect(Date.parse(attemptLog[1].startedAt)).toBeGreaterThanOrEqual((ends[0] ?? 0) + 30_000);
    expect(Date.parse(nextRetryAt)).toBe((ends[1] ?? 0) + 60_000);
  });

  it('include credentials of the right form', () => {
    expect(examples.apiKeySecret).toMatch(/^ck_live_[A-Za-z0-9_-]{43}$/);
    expect(examples.sandboxKeySecret).toMatch(/^ck_sandbox_[A-Za-z0-9_-]{43}$/);
    expect(Buffer.from(examples.signingSecret.slice('whsec_'.length), 'base64')).toHaveLength(32);
  });

  it('have the same id for the same thing, and another for another', () => {
    fc.assert(
      fc.property(fc.nat(), fc.nat(), (first, second) => {
        const at = (offset: number) => new Date(Date.parse('2026-11-20') + offset).toISOString();
        expect(examples.exampleId('cnv', at(first)) === examples.exampleId('cnv', at(second))).toBe(
          first === second,
        );
      }),
    );
  });
});

describe('the sandbox examples', () => {
  const { attemptLog, ...delivery } = sandboxExamples.simulatedDeliveryWithAttempts;
  const { url } = sandboxExamples.simulatedWebhook;
  const requests = [...attemptLog.map(({ request }) => request), sandboxExamples.forwardedDelivery.request];

  it('have an endpoint whose URL is a program', () => {
    expect(checkProgram(new URL(url)).ok).toBe(true);
  });

  it("have attempts with the results of their endpoint's program", () => {
    const outcomes = attemptLog.map(({ number }) => simulate(parseProgram(url), number, 10_000));
    expect(attemptLog.map(({ status }) => status)).toEqual(
      outcomes.map((outcome) => 'status' in outcome && outcome.status),
    );
    expect(delivery).toMatchObject({ status: 'succeeded', terminalReason: 'sandbox_simulated' });
  });

  it('have the times that the speed of their endpoint gives', () => {
    const { speed } = parseProgram(url);
    const [first, second] = attemptLog.map(({ startedAt, durationMs }) => ({
      start: Date.parse(startedAt),
      end: Date.parse(startedAt) + durationMs,
    }));
    expect(Number(second?.start)).toBeGreaterThanOrEqual(Number(first?.end) + 30_000 / speed);
    expect(attemptLog[1]?.durationMs).toBeGreaterThanOrEqual(250 / speed);
    expect(Date.parse(delivery.terminalAt)).toBe(second?.end);
  });

  it('have requests with all headers, and a signature of their time', () => {
    expect(requests).toHaveLength(3);
    for (const request of requests) {
      const { headers = {}, body = '' } = request ?? {};
      const timestamp = new Date(Number(headers['webhook-timestamp']) * 1000);
      expect(headers).toEqual(
        completeHeaders({ url: new URL(request?.url ?? ''), headers, body: Buffer.from(body) }),
      );
      expect(headers['webhook-signature']).toBe(
        new Webhook(examples.signingSecret).sign(delivery.eventId, timestamp, body),
      );
      expect(JSON.parse(body).orgId).toBe(examples.sandbox.sandboxOrganizationId);
    }
    expect(new Set(requests.map((request) => request?.headers['webhook-timestamp'])).size).toBe(3);
  });
});

describe.each(EVENT_TYPES)('the example of %s', (type) => {
  it('is signed as Standard Webhooks says, with the secret of the registration’s example', () => {
    const { body, headers } = eventExample(type);
    const timestamp = new Date(headers['webhook-timestamp'] * 1000);
    expect(headers['webhook-signature']).toBe(
      new Webhook(examples.signingSecret).sign(headers['webhook-id'], timestamp, JSON.stringify(body)),
    );
  });

  it('is a delivery to the endpoint of the other examples', () => {
    const { headers } = eventExample(type);
    expect(headers['webhook-delivery-id']).toBe(deriveDeliveryId(headers['webhook-id'], examples.webhook.id));
  });
});

it('jsonText writes any content, with long lines for texts only', () => {
  fc.assert(
    fc.property(fc.array(fc.jsonValue({ maxDepth: 5 })), (content) => {
      const text = jsonText(content);
      expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(content)));
      const long = text.split('\n').filter((line) => line.length > 110);
      for (const line of long) expect(line).toMatch(/^ *("(\\.|[^"\\])*": )?"(\\.|[^"\\])*",?$/);
    }),
  );
});
