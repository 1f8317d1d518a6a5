import { describe, expect, it } from 'vitest';
import { routes } from '../../../functions/api/routes.ts';
import { DeliveryStatus, TerminalReason } from '../../../functions/domain/delivery.ts';
import { DisabledReason, EndpointStatus } from '../../../functions/domain/endpoint.ts';
import { document } from './examples.ts';

const { schemas, parameters } = document.components;

describe('a page’s limit', () => {
  it('is a number from 1 to 100, and 20 when it is left out, as the routes take it', () => {
    expect(parameters.Limit?.schema).toEqual({ type: 'integer', minimum: 1, maximum: 100, default: 20 });
    const { query } = routes.listTickets;
    expect([query.parse({}), query.parse({ limit: '0' }), query.parse({ limit: '101' })]).toEqual([
      { limit: 20 },
      { limit: 1 },
      { limit: 100 },
    ]);
  });
});

describe('the hours of an endpoint’s stats', () => {
  it('are a number from 1 to 168, and 24 when they are left out, as the route takes them', () => {
    expect(parameters.Hours?.schema).toEqual({ type: 'integer', minimum: 1, maximum: 168, default: 24 });
    const { query } = routes.readWebhookStats;
    expect([query.parse({}), query.parse({ hours: '0' }), query.parse({ hours: '169' })]).toEqual([
      { hours: 24 },
      { hours: 1 },
      { hours: 168 },
    ]);
  });
});

describe('the values of an answer', () => {
  it.each([
    ['Delivery', 'status', DeliveryStatus.options],
    ['Delivery', 'terminalReason', TerminalReason.options],
    ['Webhook', 'status', EndpointStatus.options],
    ['Webhook', 'disabledReason', DisabledReason.options],
  ])('in %s.%s are each explained', (name, field, values) => {
    const description = schemas[name]?.properties?.[field]?.description;
    for (const value of values) expect(description).toContain(`\`${value}\``);
  });
});
