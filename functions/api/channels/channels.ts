import type { Channel } from '../../domain/channel.ts';
import { failingOf } from '../../domain/endpoint.ts';

/** A channel as it is shown: with what becomes of its deliveries, of which a web widget has none. */
export const shownChannel = (channel: Channel) =>
  channel.kind === 'http'
    ? { ...channel, failing: failingOf(channel) }
    : ({ ...channel, status: 'active', consecutiveFailures: 0 } as const);
