import { until } from 'aws-local/test/until.ts';
import type { Service } from '../../../support/service.ts';

/**
 * Waits until a queue has no message of an organization, not even one in flight.
 * @param queue path in the stack, for example `Bus/Meter/Queue`
 */
export const untilDrained = (service: Pick<Service, 'bodies'>, queue: string, orgId: string) =>
  until(`${queue} to have nothing of ${orgId}`, () =>
    service.bodies(queue).every((body) => !body.includes(orgId)),
  );
