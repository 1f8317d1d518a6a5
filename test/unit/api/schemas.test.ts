import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import * as z from 'zod/mini';
import {
  CreateTicket,
  RequestHandoff,
  ResolveConversation,
} from '../../../functions/api/conversations/routes.ts';
import { text } from '../../../functions/api/fields.ts';
import { DeliveryCounts } from '../../../functions/api/receiver-routes.ts';
import { routes } from '../../../functions/api/routes.ts';
import * as schema from '../../../functions/api/webhooks/routes.ts';
import { newId } from '../../../functions/aws/ids.ts';
import { DeliveryStatus, TerminalReason } from '../../../functions/delivery/delivery.ts';
import {
  type Endpoint,
  FAILURES_TO_DISABLE,
  getFailureStatus,
} from '../../../functions/receivers/endpoint.ts';
import { aDelivery, anEndpoint, NOW } from '../../builders.ts';

/** A text field of a body, and its maximum length. */
const fields = [
  ['the reason of a handoff', RequestHandoff, 'reason', 1000],
  ['the resolver of a conversation', ResolveConversation, 'resolvedBy', 200],
  ['the reason of a ticket', CreateTicket, 'reason', 1000],
] as const;

describe.each(fields)('%s', (_, schema, field, maximum) => {
  it('accepts any text up to its maximum length, and no other', () => {
    const lengths = fc.oneof(fc.nat({ max: 3 }), fc.nat({ max: 2 * maximum }), fc.constant(maximum));
    fc.assert(
      fc.property(lengths, fc.constantFrom('x', ' ', '#', 'ä', '漢'), (length, character) => {
        const body = { [field]: character.repeat(length) };
        const parsed = schema.safeParse(body);
        expect(parsed.success).toBe(length >= 1 && length <= maximum);
        if (parsed.success) expect(parsed.data).toMatchObject(body);
      }),
    );
  });

  it.each([null, 7, true, [], {}])('rejects %j', (value) => {
    expect(schema.safeParse({ [field]: value }).success).toBe(false);
  });
});

describe('optional body', () => {
  it.each([
    ['a handoff', RequestHandoff, {}],
    ['a resolution', ResolveConversation, { resolvedBy: 'api' }],
    ['a ticket', CreateTicket, {}],
  ] as const)(
    'of %s has the same meaning when it is missing or empty, and no unknown fields',
    (_, schema, meaning) => {
      for (const body of [undefined, {}]) expect(schema.parse(body)).toStrictEqual(meaning);
      expect(schema.safeParse({ status: 'open' }).success).toBe(false);
    },
  );

  it.each([RequestHandoff, ResolveConversation, CreateTicket])('rejects any other JSON (%#)', (schema) => {
    for (const body of [null, [], 'text', 0, true]) expect(schema.safeParse(body).success).toBe(false);
  });
});

const now = NOW.toISOString();
const disabled = {
  status: 'auto_disabled',
  consecutiveFailures: FAILURES_TO_DISABLE,
  failingSince: now,
  disabledAt: now,
  disabledReason: 'consecutive_failures',
} as const;

/** Parses an endpoint as the routes that read endpoints do. */
const shown = (changes: Partial<Endpoint>) => {
  const endpoint = anEndpoint(changes);
  return schema.Webhook.parse({ ...endpoint, failing: getFailureStatus(endpoint) });
};

describe('endpoint in an answer', () => {
  it('has the time since it fails, and the number of failures until it is disabled', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: FAILURES_TO_DISABLE - 1 }), (consecutiveFailures) => {
        expect(shown({ consecutiveFailures, failingSince: now })).toMatchObject({
          failing: { since: now, failuresUntilDisabled: FAILURES_TO_DISABLE - consecutiveFailures },
          disabledAt: null,
          disabledReason: null,
        });
      }),
    );
  });

  it('has no time of its first failure when that was not recorded', () => {
    expect(shown({ consecutiveFailures: 9 }).failing).toEqual({ since: null, failuresUntilDisabled: 1 });
  });

  it('has no failure status when it does not fail', () => {
    expect(shown({})).toMatchObject({ failing: null, disabledAt: null, disabledReason: null });
  });

  it('has the time and reason of its disabling, and no failure status', () => {
    expect(shown(disabled)).toMatchObject({
      failing: null,
      disabledAt: now,
      disabledReason: 'consecutive_failures',
    });
  });

  it('has its predecessor, which an operator may have disabled without failures', () => {
    const predecessor = { id: newId('whk', NOW), disabledAt: now } as const;
    expect(shown({}).predecessor).toBeNull();
    expect(shown({ predecessor }).predecessor).toEqual({ ...predecessor, failingSince: null });
  });

  it('does not reveal its queue', () => {
    for (const changes of [{}, { consecutiveFailures: 1, failingSince: now }, disabled])
      expect(JSON.stringify(shown({ ...changes, pace: { is: 'slow', until: now } }))).not.toContain('slow');
  });

  it('has the same fields in all routes, except for a started job and the secret of a registration', () => {
    const endpoint = anEndpoint();
    const fields = (answer: unknown) => Object.keys(Object(answer)).sort();
    const read = fields(routes.readWebhook.success.data.parse(endpoint));
    const updated = fields(routes.updateWebhook.success.data.parse(endpoint));
    expect(updated).toEqual([...read, 'redelivery'].sort());
    expect(fields(routes.listWebhooks.success.data.parse([endpoint])[0])).toEqual(read);
    const registered = routes.registerWebhook.success.data.parse({ ...endpoint, secret: 'whsec_x' });
    expect(fields(registered)).toEqual([...updated, 'secret'].sort());
  });
});

describe('delivery in an answer', () => {
  it.each(TerminalReason.options)('accepts the terminal reason %s', (terminalReason) => {
    const delivery = aDelivery({ status: 'skipped', terminalAt: now, terminalReason });
    expect(schema.Delivery.parse(delivery)).toMatchObject({ status: 'skipped', terminalReason });
  });

  it('has no fields of sandboxes when it is live', () => {
    const live = aDelivery({ attemptLog: [{ number: 1, startedAt: now, durationMs: 5, status: 200 }] });
    const { attemptLog } = schema.DeliveryWithAttempts.parse(live);
    expect(attemptLog).toMatchObject([{ request: null }]);
    expect(Object.keys(schema.ListedDelivery.parse(live))).not.toContain('request');
  });

  it('has the simulated request in a sandbox', () => {
    const request = {
      method: 'POST' as const,
      url: 'https://x.example.com/',
      headers: { host: 'x' },
      body: '{}',
    };
    const simulated = aDelivery({
      generation: 1,
      status: 'retrying',
      attempts: 1,
      nextRetryAt: now,
      attemptLog: [{ number: 1, startedAt: now, durationMs: 3, status: 503, request }],
    });
    const shown = schema.DeliveryWithAttempts.parse(simulated);
    expect(shown.attemptLog).toMatchObject([{ request }]);
    expect(schema.ListedDelivery.parse({ ...simulated, request })).toMatchObject({ request });
    expect(Object.keys(schema.ListedDelivery.parse({ ...simulated, request }))).not.toContain('attemptLog');
  });

  it('does not reveal that it is parked', () => {
    const waiting = aDelivery({ status: 'retrying', nextRetryAt: now, parked: true });
    expect(Object.keys(schema.Delivery.parse(waiting))).not.toContain('parked');
  });

  it.each(DeliveryStatus.options)('is counted in the stats when it is %s', (status) => {
    const open = status === 'pending' || status === 'retrying';
    expect(Object.keys(DeliveryCounts.shape)).toContain(open ? 'pending' : status);
  });
});

it('the URL of a receiver is left to the use case when only its host may be refused', () => {
  const sent = { url: 'https://localhost/', events: ['message.received'] };
  expect(schema.RegisterWebhook.safeParse(sent).success).toBe(true);
});

const Text = text(100);
/** Unicode, general category Cc: C0, delete and C1. */
const CONTROLS = [...Array(0x20).keys(), 0x7f, ...Array.from({ length: 0x20 }, (_, index) => 0x80 + index)];
const SPACING = ['\t', '\n', '\r'];

describe('text field', () => {
  it('rejects control characters other than tabs and newlines', () => {
    for (const code of CONTROLS) {
      const given = `a${String.fromCharCode(code)}b`;
      const isAllowed = SPACING.includes(String.fromCharCode(code));
      expect([code, Text.safeParse(given).success]).toEqual([code, isAllowed]);
    }
    expect(Text.safeParse('\u001b[31m').error?.issues).toMatchObject([
      { message: 'must not have control characters other than tab, line feed and carriage return' },
    ]);
  });

  it('accepts all other characters of UTF-8', () => {
    const points = fc.integer({ min: 0xa0, max: 0x10ffff }).filter((code) => code < 0xd800 || code > 0xdfff);
    fc.assert(
      fc.property(fc.array(points, { minLength: 1, maxLength: 40 }), (codes) => {
        expect(Text.safeParse(String.fromCodePoint(...codes)).success).toBe(true);
      }),
    );
  });

  it('counts characters as JSON Schema does, in code points', () => {
    for (const character of ['a', 'é', '漢', '🙂', '𠀀']) {
      expect(Text.safeParse(character.repeat(100)).success).toBe(true);
      expect(Text.safeParse(character.repeat(101)).error?.issues).toMatchObject([
        { code: 'too_big', origin: 'string', maximum: 100 },
      ]);
    }
    expect(z.toJSONSchema(Text)).toMatchObject({ minLength: 1, maxLength: 100 });
  });
});
