import type { BodyOf, CallOptions, FilterOf } from './operations.ts';
import { type FollowOptions, follow } from './pages.ts';
import { createTransport, type TransportOptions, type WriteOptions } from './transport.ts';

export interface WidgetOptions extends Omit<TransportOptions, 'credential'> {
  /** Of `conversations.createVisitorToken`, made on a server: `cvt_…`. */
  visitorToken: string;
}

/** For a visitor's browser: reads one conversation, and writes in it. */
export function createWidget({ visitorToken, ...options }: WidgetOptions) {
  const { list, send } = createTransport({ ...options, credential: visitorToken });
  return {
    /** The messages that are there. */
    messages: (filter?: FilterOf<'readWidgetMessages'>, own?: CallOptions) =>
      list('readWidgetMessages', { query: filter ?? {} }, own),
    /** Records a message of the visitor, which `follow` returns too. */
    send: async (body: BodyOf<'createWidgetMessage'>, options?: WriteOptions) =>
      (await send('createWidgetMessage', { body }, options)).data,
    /** Reads on without an end, each message once, as soon as it is recorded. Show them by `createdAt`. */
    follow: (own: FollowOptions = {}) => follow(list('readWidgetMessages', {}, own), own),
  };
}
