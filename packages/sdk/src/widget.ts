import type { FilterOf } from './operations.ts';
import { type CallOptions, createTransport, type TransportOptions } from './transport.ts';

export interface WidgetOptions extends Omit<TransportOptions, 'credential'> {
  /** Of `conversations.createVisitorToken`, made on a server: `cvt_…`. */
  visitorToken: string;
}

/** For a visitor's browser: reads one conversation. */
export function createWidget({ visitorToken, ...options }: WidgetOptions) {
  const { list } = createTransport({ ...options, credential: visitorToken });
  return {
    /** The conversation's messages. */
    messages: (filter?: FilterOf<'readWidgetMessages'>, own?: CallOptions) =>
      list('readWidgetMessages', { query: filter ?? {} }, own),
  };
}
