import { deserialize, serialize } from 'node:v8';
import * as z from 'zod/mini';
import { createSeal, type Keyring, sealCursor } from '../../functions/aws/keyrings.ts';
import { DeliveryMessage } from '../../functions/delivery/delivery.ts';
import { BusEvent } from '../../functions/events/bus.ts';
import { buildTenantKey } from '../../functions/tenancy/keys.ts';
import type { Tenant } from '../../functions/tenancy/tenant.ts';
import { createVisitorToken } from '../../functions/tenancy/visitor-token.ts';
import type { Schema } from '../../lib/openapi/openapi.ts';
import { aKeyring, anEvent, aTenant, later, NOW, seconds } from '../builders.ts';
import { conversationOf, KINDS, type Kind, type Row } from './kinds.ts';

/** What a version leaves for those after it. */
export interface Stored {
  /** JSON Schemas of rows and messages, which name the attributes that a sample lacks too. */
  schemas: Record<string, Schema>;
  tenant: Tenant;
  rows: Record<string, Row>;
  /** The body of an event, as receivers get it. */
  event: string;
  /** What callers were given, with the keys that sealed it. */
  keyring: Keyring;
  cursor: string;
  visitorToken: string;
}

export const bindingOf = (tenant: Tenant) => ({
  tenant: buildTenantKey(tenant),
  route: 'listTickets',
  filters: ['open'],
});

const MESSAGES = {
  'delivery message': DeliveryMessage,
  'message of the bus': z.object({ detail: BusEvent }),
};
const rowKinds = Object.entries<Kind>(KINDS);
const toSchema = (schema: z.ZodMiniType): Schema =>
  z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }) as Schema;

/** What the present code stores: a row of each kind, messages, a cursor and a token. */
export function createStored(): Stored {
  const tenant = aTenant();
  const keyring = aKeyring();
  const visit = {
    ...tenant,
    conversationId: conversationOf(tenant),
    expiresAt: later(NOW, seconds(60)).toISOString(),
  };
  const schemas = {
    ...Object.fromEntries(rowKinds.map(([name, { schema }]) => [name, schema])),
    ...MESSAGES,
  };
  return {
    schemas: Object.fromEntries(Object.entries(schemas).map(([name, schema]) => [name, toSchema(schema)])),
    tenant,
    rows: Object.fromEntries(rowKinds.map(([name, { make }]) => [name, make(tenant)])),
    event: anEvent({ tenant }).body,
    keyring,
    cursor: sealCursor(keyring, 'a-position', bindingOf(tenant)),
    visitorToken: createVisitorToken(keyring, visit, createSeal(keyring)),
  };
}

/** Rows have bytes, which JSON cannot express. */
export const readStored = (output: string): Stored => deserialize(Buffer.from(output, 'base64'));

// A later version runs this file of the last release.
if (process.argv[1] === import.meta.filename)
  process.stdout.write(serialize(createStored()).toString('base64'));
