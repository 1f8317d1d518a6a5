import { EventInclude, RecordInclude } from '../../functions/api/events/routes.ts';
import { DeliveryInclude, SortOrder } from '../../functions/api/fields.ts';
import { Environment } from '../../functions/tenancy/tenant.ts';

/**
 * Enumerations that parameters of several operations share. Those of answers have no names: generated Go
 * clients read them as texts then, and fail on a later value of a named one.
 */
export const ENUMERATIONS = { Environment, SortOrder, EventInclude, RecordInclude, DeliveryInclude };
