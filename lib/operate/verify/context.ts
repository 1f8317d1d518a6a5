import type { DeliveryId, EndpointId, OrgId } from '../../../functions/aws/ids.ts';
import type { Tenant } from '../../../functions/tenancy/tenant.ts';
import type { Place } from '../place.ts';
import type { CallApi } from './api.ts';
import { CheckSkipped } from './check.ts';
import type { VerifyClients } from './clients.ts';
import type { Removals } from './removals.ts';

export interface VerifyContext {
  place: Place;
  clients: VerifyClients;
  api: CallApi;
  /** Session token, if the operator gave one. */
  token: string | undefined;
  /** URL for a live event, if the operator gave one. */
  receiver: string | undefined;
  /** Time limit for a delivery, an alarm's action or a queue. */
  waitMs: number;
  removals: Removals;
  made: Made;
  now: () => Date;
  /** Monotonic milliseconds. */
  clock(): number;
  /** @throws AbortError when the operator stops the run */
  sleep(milliseconds: number): Promise<void>;
}

/** Results of earlier checks. */
export interface Made {
  organization?: { id: OrgId; key: string };
  sandbox?: { tenant: Tenant; key: string };
  endpoint?: EndpointId;
  delivery?: DeliveryId;
}

/** @throws CheckSkipped when the check that creates it failed */
export function need<Name extends keyof Made>(made: Made, name: Name): NonNullable<Made[Name]> {
  const value = made[name];
  if (value === undefined) throw new CheckSkipped(`needs the ${name}, which could not be made`);
  return value;
}
