import { PROBLEM_STATUS, type ProblemType } from '../../functions/http/problem.ts';
import type { Route } from '../../functions/http/route.ts';
import { envelopeRef } from './envelopes.ts';
import { ERROR_REF } from './error-schema.ts';
import { REQUEST_ID } from './example-values.ts';
import { type HeaderName, headerRefs, locationHeader } from './headers.ts';
import type { MediaType, Response } from './openapi.ts';
import type { OperationText } from './operation-text.ts';
import { isPaged, PROBLEM_TEXTS, problemsOf } from './problems.ts';

/** Headers that every answer of a route has. */
const always = ({ deprecation, visitor }: Pick<Route, 'deprecation' | 'visitor'>): HeaderName[] => [
  'Request-Id',
  ...(visitor ? (['Access-Control-Allow-Origin', 'Access-Control-Expose-Headers'] as const) : []),
  ...(deprecation === undefined ? [] : (['Deprecation', 'Sunset'] as const)),
  ...(deprecation?.guide === undefined ? [] : (['Link'] as const)),
];

const QUOTA: readonly HeaderName[] = ['RateLimit-Policy', 'RateLimit'];

/** The answers to requests that succeed, by status. */
export const successResponses = (route: Route, text: OperationText): Record<string, Response> => ({
  [route.success.status]: successResponse(route, text),
  ...(route.success.unchanged !== undefined &&
    text.unchanged !== undefined && {
      [route.success.unchanged]: successResponse(route, {
        ...text,
        answer: text.unchanged,
        location: undefined,
      }),
    }),
});

/** The answer to a request that succeeded (docs/specification.md, Response envelope). */
function successResponse(
  route: Route,
  text: Omit<OperationText, 'location'> & { location?: string | undefined },
): Response {
  const { status } = route.success;
  const names: HeaderName[] = [
    ...always(route),
    ...QUOTA,
    ...(route.idempotency === undefined ? [] : (['Idempotency-Replayed'] as const)),
  ];
  const headers = {
    ...headerRefs(names),
    ...(text.location === undefined ? {} : { Location: locationHeader(text.location, status !== 204) }),
  };
  const response = { description: text.answer, headers };
  if (status === 204) return response;
  return {
    ...response,
    content: { 'application/json': { schema: envelopeRef(route), ...examplesOf(route, text) } },
  };
}

/** One example, or one live and one of a sandbox. */
function examplesOf(
  route: Route,
  { data, followCursor, sandbox }: OperationText,
): Pick<MediaType, 'example' | 'examples'> {
  // Parsed, so that it is what an answer builds, in its order.
  const value = (of: unknown) => ({
    success: true,
    data: route.success.data.parse(of),
    ...(isPaged(route) ? { nextCursor: null } : {}),
    ...(route.success.followed ? { followCursor: followCursor ?? null } : {}),
  });
  if (sandbox === undefined) return { example: value(data) };
  return {
    examples: {
      live: { summary: 'Live', value: value(data) },
      sandbox: { summary: 'In a sandbox', value: value(sandbox) },
    },
  };
}

/** Headers of an error, beyond those that every answer has. */
function errorHeaders(route: Route, status: number): readonly HeaderName[] {
  // Before the caller is known there is no budget to report.
  if (status === 401) return ['WWW-Authenticate'];
  // A route that was shut down does not ask who calls; one that refuses a replay does.
  if (status === 410 && !route.refusals?.includes('GONE')) return [];
  return status === 429 || status === 503 ? [...QUOTA, 'Retry-After'] : QUOTA;
}

/**
 * An answer to requests that are refused or fail: one for each status, whose `error.type` is one of exactly
 * these.
 */
export interface ProblemResponse {
  status: `${number}`;
  /** Routes share the answers of one name. Undefined for a route whose answers have headers of its own. */
  name: string | undefined;
  response: Response;
}

export function problemResponses(route: Route): ProblemResponse[] {
  const byStatus = Map.groupBy(problemsOf(route), (type) => PROBLEM_STATUS[type]);
  return [...byStatus].map(([status, types]) => ({
    status: `${status}`,
    name:
      route.deprecation === undefined
        ? `${route.visitor ? 'Visitor' : ''}${types.map(pascal).join('Or')}`
        : undefined,
    response: problemResponse(route, status, types),
  }));
}

function problemResponse(route: Route, status: number, types: readonly ProblemType[]): Response {
  return {
    description: types.map((type) => `\`${type}\`: ${PROBLEM_TEXTS[type].description}`).join('\n\n'),
    headers: headerRefs([...always(route), ...errorHeaders(route, status)]),
    content: {
      'application/json': {
        schema: ERROR_REF,
        examples: Object.fromEntries(types.flatMap((type) => problemExamples(type, route))),
      },
    },
    'x-error-types': [...types],
  };
}

/** What no route can foresee: answers of the gateway itself, and types that are added later. */
export const OTHER_ERROR: Response = {
  description:
    'Any other error, in the same form: errors of API Gateway, and error types that are added later. Handle it by its status.',
  headers: headerRefs(['Request-Id']),
  content: { 'application/json': { schema: ERROR_REF } },
};

function problemExamples(type: ProblemType, { role }: Route) {
  const { messages, sessionMessages = messages, details: faults } = PROBLEM_TEXTS[type];
  return Object.entries(role === undefined ? messages : sessionMessages).map(([about, message]) => {
    const details = faults?.[about];
    return [
      `${type} ${about}`.replaceAll(/[ _]/g, '-').toLowerCase(),
      {
        summary: `${type}: ${about}`,
        value: { error: { type, message, requestId: REQUEST_ID, ...(details && { details }) } },
      },
    ];
  });
}

const pascal = (type: ProblemType): string =>
  type.toLowerCase().replaceAll(/(^|_)./g, (letter) => letter.slice(-1).toUpperCase());
