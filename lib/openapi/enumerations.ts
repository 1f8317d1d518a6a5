import { DeliveryInclude } from '../../functions/api/delivery-schemas.ts';
import { EventInclude, EventOrder } from '../../functions/api/events/schemas.ts';
import { Environment } from '../../functions/tenancy/tenant.ts';

/**
 * Enumerations that parameters of several operations share. Those of answers have no names: generated Go
 * clients read them as texts then, and fail on a later value of a named one.
 */
export const ENUMERATIONS = { Environment, EventOrder, EventInclude, DeliveryInclude };
