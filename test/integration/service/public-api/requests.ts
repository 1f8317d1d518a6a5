import { randomUUID } from 'node:crypto';
import type { Operation } from '../../../fuzz/document.ts';
import type { Sent } from '../../../support/exchange.ts';
import { aVisitor, filled, withRealIds } from '../../../support/resources.ts';
import type { Tenant } from '../../../support/tenant.ts';

/** A credential of the kind that the operation requires. */
export async function credentialOf(
  { caller }: Pick<Operation, 'caller'>,
  tenant: Pick<Tenant, 'key' | 'session' | 'api' | 'admin' | 'receiver' | 'reused'>,
): Promise<string> {
  if (caller === 'visitor') return aVisitor(tenant);
  return caller === 'key' ? tenant.key : tenant.session;
}

/**
 * A valid request of the operation: the document's own example, on newly created resources of the tenant
 * unless it reuses them.
 */
export async function validRequest(operation: Operation, tenant: Tenant): Promise<Sent> {
  const { method, path, body } = operation;
  const takesKey = operation.parameters.some(({ name }) => name === 'Idempotency-Key');
  return {
    method,
    target: await filled(tenant, path),
    headers: [
      ['Authorization', `Bearer ${await credentialOf(operation, tenant)}`],
      ...(takesKey ? [['Idempotency-Key', randomUUID()] as const] : []),
      ...(body ? [['Content-Type', 'application/json'] as const] : []),
    ],
    ...(body ? { body: JSON.stringify(await withRealIds(tenant, body.example)) } : {}),
  };
}

/** The request with changed headers; one that is undefined is left out. */
export function withHeaders(sent: Sent, changes: Readonly<Record<string, string | undefined>>): Sent {
  const kept = sent.headers.filter(([name]) => !Object.hasOwn(changes, name));
  const given = Object.entries(changes).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, value] as const],
  );
  return { ...sent, headers: [...kept, ...given] };
}

export const withBody = (sent: Sent, body: string, type = 'application/json'): Sent => ({
  ...withHeaders(sent, { 'Content-Type': type }),
  body,
});

/** The digits of identifiers. */
export const ID_DIGITS = /(?<=\b[a-z]{3}_)[0-9a-f]{32}\b/g;
/** Digits of an identifier that names nothing. */
export const NOBODYS = '01a1f84b811a7000a000000000000000';
