import * as z from 'zod/mini';

/**
 * What all that follows from one API call has in common, for who searches the logs: the root of the call's `X-Amzn-Trace-Id`. It is stored and sent
 * with what follows, and optional everywhere: what began without a call has none, and neither has what was stored before there were any.
 */
export const TraceId = z.optional(z.string());
export type TraceId = z.infer<typeof TraceId>;

/** `Root=1-5759e988-bd862e3fe1be46a994272793` among the fields of the header, which a caller may have written. */
const ROOT = /(?:^|;)\s*Root=(1-[0-9a-f]{8}-[0-9a-f]{24})\s*(?:;|$)/;

/**
 * The trace of an API call.
 * @param header its `X-Amzn-Trace-Id`, as API Gateway passes it on
 * @param requestId stands in where the header says nothing of use
 */
export const traceIdOf = (header: string | undefined, requestId: string): string =>
  ROOT.exec(header ?? '')?.[1] ?? requestId;

/** The attribute of whatever has a trace; none where there is none. */
export const traced = (traceId: TraceId): { traceId?: string } => (traceId === undefined ? {} : { traceId });
