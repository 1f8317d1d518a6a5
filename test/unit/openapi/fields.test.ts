import { describe, expect, it } from 'vitest';
import * as z from 'zod/mini';
import { routes } from '../../../functions/api/routes.ts';
import { DeliveryStatus, TerminalReason } from '../../../functions/delivery/delivery.ts';
import {
  checkProgram,
  parseProgram,
  SIMULATED_FAILURES,
  simulate,
} from '../../../functions/delivery/simulation.ts';
import { DisabledReason, EndpointStatus } from '../../../functions/receivers/endpoint.ts';
import { OPERATIONS } from '../../../lib/openapi/operations.ts';
import { document } from './examples.ts';

const { schemas, parameters } = document.components;

/** No bounds in the schema: clients must not refuse what the service accepts. */
const clamped = ({ least, most, standard }: Record<'least' | 'most' | 'standard', number>) => ({
  description: expect.stringContaining(`Integers below ${least} and above ${most} are clamped`),
  schema: { type: 'integer', default: standard },
});

describe('a number of a query', () => {
  it.each([
    ['limit', parameters.Limit, routes.listTickets.query, [1, 100, 20]],
    ['hours', parameters.Hours, routes.readWebhookStats.query, [1, 168, 24]],
  ] as const)('%s has the bounds and the default of its route', (name, parameter, query, bounds) => {
    const [least, most, standard] = bounds;
    expect(parameter).toMatchObject(clamped({ least, most, standard }));
    const given = [{}, { [name]: '0' }, { [name]: String(most + 1) }];
    expect(given.map((each) => query.parse(each))).toEqual(
      [standard, least, most].map((value) => ({ [name]: value })),
    );
  });
});

describe('the Idempotency-Key', () => {
  it('is a UUID of any version, in upper or lower case, as in the service', () => {
    const { pattern = '' } = parameters.IdempotencyKey?.schema ?? {};
    const key = '0199F84A-95c0-0000-FFFF-51327f7e6250';
    for (const given of [key, key.toLowerCase(), `${key}0`, key.replaceAll('-', ''), `{${key}}`, ''])
      expect(new RegExp(pattern).test(given), given).toBe(z.guid().safeParse(given).success);
  });
});

describe('the include parameter of a list of deliveries', () => {
  it('is the request, the response or absent, as in the route', () => {
    expect(parameters.Include?.schema).toEqual({ $ref: '#/components/schemas/DeliveryInclude' });
    expect(schemas.DeliveryInclude).toEqual({ type: 'string', enum: ['request', 'response'] });
    const { query } = routes.listDeliveries;
    expect(query.parse({ include: 'request' })).toEqual({ limit: 20, include: 'request' });
    expect(query.parse({ include: 'response' })).toEqual({ limit: 20, include: 'response' });
    expect(query.safeParse({ include: 'attemptLog' }).success).toBe(false);
  });
});

describe('the program of a simulated receiver', () => {
  const text = OPERATIONS.registerWebhook.description;

  it('is documented with each possible word, and its effect', () => {
    for (const [word, { error }] of Object.entries(SIMULATED_FAILURES)) {
      expect(text).toContain(`\`${word}\``);
      expect(text).toContain(`\`${error}\``);
    }
    const late = simulate(parseProgram('https://hooks.example.com/?simulate=timeout'), 1, 10_000);
    expect(text).toContain(`\`${'error' in late && late.error}\``);
    expect(text).toContain('3,600');
  });

  it('has an example that matches its description', () => {
    const [example = ''] = /https:[^`]*simulate[^`]*/.exec(text) ?? [];
    expect(checkProgram(new URL(example))).toEqual({
      ok: true,
      program: {
        steps: [
          { does: 503, afterMs: 0 },
          { does: 'timeout', afterMs: 0 },
          { does: 200, afterMs: 3000 },
        ],
        speed: 60,
      },
    });
  });
});

describe('the values of an answer', () => {
  it.each([
    ['Delivery', 'status', DeliveryStatus.options],
    ['Delivery', 'terminalReason', TerminalReason.options],
    ['Webhook', 'status', EndpointStatus.options],
    ['Webhook', 'disabledReason', DisabledReason.options],
  ])('in %s.%s are each documented', (name, field, values) => {
    const description = schemas[name]?.properties?.[field]?.description;
    for (const value of values) expect(description).toContain(`\`${value}\``);
  });
});
