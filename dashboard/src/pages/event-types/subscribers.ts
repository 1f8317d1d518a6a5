import type { Endpoint } from '../../api/webhooks.ts';

/** Endpoints that receive events of a type, disabled ones included. */
export const subscribersOf = <One extends Pick<Endpoint, 'events'>>(
  type: string,
  endpoints: readonly One[],
): One[] => endpoints.filter(({ events }) => events.some((each) => each === type));

/** Endpoints that an example can be sent to, those that receive the type first. */
export function targetsOf<One extends Pick<Endpoint, 'events' | 'status'>>(
  type: string,
  endpoints: readonly One[],
): One[] {
  const active = endpoints.filter(({ status }) => status === 'active');
  const subscribed = subscribersOf(type, active);
  return [...subscribed, ...active.filter((each) => !subscribed.includes(each))];
}
