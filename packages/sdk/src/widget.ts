import type { CallOptions, FilterOf } from './operations.ts';
import { type FollowOptions, follow } from './pages.ts';
import { createTransport, type TransportOptions } from './transport.ts';

export interface WidgetOptions extends Omit<TransportOptions, 'credential'> {
  /** Of `conversations.createVisitorToken`, made on a server: `cvt_…`. */
  visitorToken: string;
}

/** For a visitor's browser: reads one conversation. */
export function createWidget({ visitorToken, ...options }: WidgetOptions) {
  const { list } = createTransport({ ...options, credential: visitorToken });
  return {
    /** The messages that are there. */
    messages: (filter?: FilterOf<'readWidgetMessages'>, own?: CallOptions) =>
      list('readWidgetMessages', { query: filter ?? {} }, own),
    /** Reads on without an end, each message once, as soon as it is recorded. Show them by `createdAt`. */
    follow: (own: FollowOptions = {}) => follow(list('readWidgetMessages', {}, own), own),
  };
}
