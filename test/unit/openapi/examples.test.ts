import fc from 'fast-check';
import { Webhook } from 'standardwebhooks';
import { describe, expect, it } from 'vitest';
import { routes } from '../../../functions/api/routes.ts';
import { SUBSCRIBABLE } from '../../../functions/domain/events.ts';
import { creationTime, deliveryId } from '../../../functions/domain/ids.ts';
import type { Route } from '../../../functions/platform/route.ts';
import * as cast from '../../../lib/openapi/cast.ts';
import { eventExample } from '../../../lib/openapi/events.ts';
import { OPERATIONS } from '../../../lib/openapi/operations.ts';
import { EVENT_TYPES } from '../../../lib/openapi/schemas.ts';
import { document, examplesIn, violations } from './examples.ts';

const operations = Object.entries(routes) as [keyof typeof OPERATIONS, Route][];

describe('every example of the document', () => {
  const examples = examplesIn(document);

  it('is found: of each request, answer, problem, event, parameter and identifier', () => {
    const places = examples.map(({ place }) => place).join('\n');
    expect(examples.length).toBeGreaterThan(150);
    for (const [, { method, path, success }] of operations.filter(
      ([, route]) => route.success.status !== 204,
    ))
      expect(places).toContain(
        `#/paths//api${path}/${method.toLowerCase()}/responses/${success.status}/content/application/json/example`,
      );
    for (const type of EVENT_TYPES) expect(places).toContain(`#/webhooks/${type}/post/requestBody`);
  });

  it.each(examples.map((example) => [example.place, example] as const))(
    '%s fits its schema',
    (_, example) => {
      expect(violations(example.schema, example.value)).toEqual([]);
    },
  );

  it('that is spoilt fits no more', () => {
    const answer = examples.find(({ place }) =>
      place.endsWith('get/responses/200/content/application/json/example'),
    );
    expect(violations(answer?.schema ?? {}, { success: 'yes', data: 7 })).not.toEqual([]);
  });
});

describe.each(operations)('the example of %s', (key, route) => {
  const { body, data, location } = OPERATIONS[key];

  it('has a body exactly when the route takes one, and the route accepts it', () => {
    expect(body !== undefined).toBe(route.body !== undefined);
    if (route.body) expect(route.body.safeParse(body).success).toBe(true);
  });

  it('has data exactly when the answer has, and the answer holds just that', () => {
    expect(data !== undefined).toBe(route.success.status !== 204);
    if (data !== undefined) expect(route.success.data.parse(data)).toEqual(data);
  });

  it('says where to find what was created', () => {
    if (route.success.status === 201) expect(location).toBeDefined();
    if (location !== undefined) {
      const [id] = Object.values(Object(data) as Record<string, unknown>);
      expect(location).toMatch(/^\/api\/(v1|settings)\//);
      expect(location.endsWith(`/${id}`)).toBe(true);
    }
  });
});

describe('the cast', () => {
  const ids = (node: unknown): { id: string; createdAt: string }[] => {
    if (typeof node !== 'object' || node === null) return [];
    const { id, createdAt } = node as Record<string, unknown>;
    const own = typeof id === 'string' && typeof createdAt === 'string' ? [{ id, createdAt }] : [];
    return [...own, ...Object.values(node).flatMap(ids)];
  };

  it('has identifiers that carry the time of creation, a delivery’s that of its event', () => {
    const all = ids(Object.values(OPERATIONS).map(({ data }) => data));
    expect(all.length).toBeGreaterThan(20);
    for (const { id, createdAt } of all) {
      const late = Date.parse(createdAt) - creationTime(id as Parameters<typeof creationTime>[0]).getTime();
      expect(late, id).toBeGreaterThanOrEqual(0);
      expect(late, id).toBeLessThan(id.startsWith('dlv_') ? 1000 : 1);
    }
  });

  it('has deliveries of the events and to the endpoint that it has', () => {
    for (const { id, eventId, webhookId, eventType } of [cast.succeededDelivery, cast.retryingDelivery]) {
      expect(id).toBe(deliveryId(eventId, webhookId));
      expect(cast.webhook.events).toContain(eventType);
      expect(SUBSCRIBABLE).toContain(eventType);
    }
  });

  it('has an attempt log that agrees with its delivery', () => {
    const { attemptLog, attempts, lastError, lastResponseStatus, nextRetryAt } =
      cast.retryingDeliveryWithAttempts;
    const ends = attemptLog.map(({ startedAt, durationMs }) => Date.parse(startedAt) + durationMs);
    expect(attemptLog).toHaveLength(attempts);
    expect(attemptLog.at(-1)).toMatchObject({ error: lastError, status: lastResponseStatus });
    // 30 s after the first attempt, 60 s after the second (public-api.md, Limits).
    expect(Date.parse(attemptLog[1].startedAt)).toBeGreaterThanOrEqual((ends[0] ?? 0) + 30_000);
    expect(Date.parse(nextRetryAt)).toBe((ends[1] ?? 0) + 60_000);
  });

  it('has credentials of the right form', () => {
    expect(cast.apiKeySecret).toMatch(/^ck_live_[A-Za-z0-9_-]{43}$/);
    expect(Buffer.from(cast.signingSecret.slice('whsec_'.length), 'base64')).toHaveLength(32);
  });

  it('gives the same identifier for the same thing, and another for another', () => {
    fc.assert(
      fc.property(fc.nat(), fc.nat(), (one, two) => {
        const at = (offset: number) => new Date(Date.parse('2026-11-20') + offset).toISOString();
        expect(cast.exampleId('cnv', at(one)) === cast.exampleId('cnv', at(two))).toBe(one === two);
      }),
    );
  });
});

describe.each(EVENT_TYPES)('the example of %s', (type) => {
  it('is signed as Standard Webhooks signs it, with the secret of the registration’s example', () => {
    const { body, headers } = eventExample(type);
    const timestamp = new Date(headers['webhook-timestamp'] * 1000);
    expect(headers['webhook-signature']).toBe(
      new Webhook(cast.signingSecret).sign(headers['webhook-id'], timestamp, JSON.stringify(body)),
    );
  });

  it('is a delivery to the endpoint of the other examples', () => {
    const { headers } = eventExample(type);
    expect(headers['webhook-id']).toBe(deliveryId(headers['webhook-event-id'], cast.webhook.id));
  });
});
