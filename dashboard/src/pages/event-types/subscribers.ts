import type { Endpoint } from '../../api/webhooks.ts';

/** Endpoints that receive events of a type, disabled ones included. */
export const subscribersOf = <One extends Pick<Endpoint, 'events'>>(
  type: string,
  endpoints: readonly One[],
): One[] => endpoints.filter(({ events }) => events.some((each) => each === type));

/** Endpoints that an example, or a test, can be sent to. */
export function targetsOf<One extends Pick<Endpoint, 'events' | 'status'>>(
  type: string,
  endpoints: readonly One[],
): One[] {
  const active = endpoints.filter(({ status }) => status === 'active');
  return type === 'webhook.test' ? active : subscribersOf(type, active);
}
