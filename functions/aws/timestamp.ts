import * as z from 'zod/mini';

/** A time in UTC as RFC 3339 text. One schema, because each takes part of a cold start. */
export const Timestamp = z.iso.datetime();
