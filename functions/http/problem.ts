/** Error types of the API and their statuses (docs/specification.md, Error types). */
export const PROBLEM_STATUS = {
  VALIDATION_ERROR: 400,
  AUTHENTICATION_ERROR: 401,
  PERMISSION_DENIED: 403,
  NOT_FOUND: 404,
  METHOD_NOT_ALLOWED: 405,
  CONFLICT: 409,
  SANDBOX_NOT_PROVISIONED: 409,
  LIMIT_EXCEEDED: 409,
  GONE: 410,
  PAYLOAD_TOO_LARGE: 413,
  UNSUPPORTED_MEDIA_TYPE: 415,
  IDEMPOTENCY_KEY_REUSED: 422,
  RATE_LIMITED: 429,
  REQUEST_HEADERS_TOO_LARGE: 431,
  INTERNAL_ERROR: 500,
  SERVICE_UNAVAILABLE: 503,
} as const;

export type ProblemType = keyof typeof PROBLEM_STATUS;

/** What is wrong with a field, for programs. Codes may be added; their meanings do not change. */
export type FieldErrorCode =
  | 'required'
  | 'unknown_field'
  | 'duplicate'
  | 'invalid_type'
  | 'invalid_format'
  | 'invalid_characters'
  | 'not_allowed'
  | 'too_short'
  | 'too_long'
  | 'too_few'
  | 'too_many'
  | 'too_small'
  | 'too_large'
  | 'url_scheme'
  | 'url_credentials'
  | 'url_fragment'
  | 'url_port'
  | 'url_host'
  | 'url_blocked';

/** A fault of a request: the name of a field, parameter or header, and the constraint that it breaks. */
export interface FieldError<Field extends string = string> {
  /** Path in the body, such as `events.0`; `body` for the whole of it. */
  field: Field;
  code: FieldErrorCode;
  /** Completes a sentence that begins with the field: `is required`. */
  message: string;
  /** The bound that the value exceeds, with the codes `too_…`. */
  limit?: number;
}

/**
 * An expected error response. It is a value: returned, never thrown. Its types say which errors, and faults
 * of which fields, so that a route refuses with what it declares alone.
 */
export interface Problem<Type extends ProblemType = ProblemType, Field extends string = string> {
  kind: 'problem';
  type: Type;
  /** For users: names the field and the constraint, never a secret. */
  message: string;
  headers?: Record<string, string>;
  /** Every fault of an invalid request. */
  details?: readonly FieldError<Field>[];
}

export const isProblem = (value: unknown): value is Problem => Object(value).kind === 'problem';

const describeFault = ({ field, message }: FieldError): string =>
  `${field === 'body' ? 'The body' : field} ${message}.`;

/** A request with faults (docs/specification.md, Error envelope). A body of 256 KiB can have thousands. */
export function invalid<const Field extends string>(
  ...faults: readonly FieldError<Field>[]
): Problem<'VALIDATION_ERROR', Field> {
  const details = faults.slice(0, 20);
  const more = faults.length - details.length;
  const sentences = [...details.map(describeFault), ...(more > 0 ? [`There are ${more} more faults.`] : [])];
  return { ...problem('VALIDATION_ERROR', sentences.join(' ')), details };
}

/** Without side effects, so that a bundle without refusals has no text of one. */
/* @__NO_SIDE_EFFECTS__ */
function problem<Type extends ProblemType>(
  type: Type,
  message: string,
  headers?: Record<string, string>,
): Problem<Type, never> {
  return { kind: 'problem', type, message, ...(headers && { headers }) };
}

/** The same response for every reason, so that it reveals no existing credential or organization. */
/* @__NO_SIDE_EFFECTS__ */
const unauthenticated = (message: string) =>
  problem('AUTHENTICATION_ERROR', message, { 'WWW-Authenticate': 'Bearer realm="conversation-service"' });

/* @__NO_SIDE_EFFECTS__ */
const denied = (message: string) => problem('PERMISSION_DENIED', message);
/* @__NO_SIDE_EFFECTS__ */
const conflict = (message: string) => problem('CONFLICT', message);
/* @__NO_SIDE_EFFECTS__ */
const gone = (message: string) => problem('GONE', message);

type Resource =
  | 'channel'
  | 'content source'
  | 'imported content yet'
  | 'conversation'
  | 'delivery'
  | 'erasure'
  | 'escalation log entry'
  | 'event'
  | 'message'
  | 'page'
  | 'redelivery job'
  | 'sandbox'
  | 'ticket'
  | 'webhook endpoint';

/** Every refusal, other than of a field's value. */
export const refusals = {
  missingKey: unauthenticated('A valid API key is required: Authorization: Bearer ck_….'),
  missingSession: unauthenticated(
    'A valid dashboard session is required: Authorization: Bearer, or the session cookie.',
  ),
  missingVisitorToken: unauthenticated('A valid visitor token is required: Authorization: Bearer cvt_….'),
  staleSignIn: unauthenticated('This sign-in has expired, or was started in another browser. Sign in again.'),

  missingScope: (scope: string | undefined) => denied(`The API key lacks the scope ${scope}.`),
  keyForSession: denied('A dashboard session is required; API keys are not accepted here.'),
  foreignOrigin: denied(
    'A write with a session cookie must come from a page of the dashboard (header Origin).',
  ),
  adminsOnly: denied('Only admins of the organization may do this.'),
  foreignSignIn: denied(
    'Only pages of the dashboard may sign in (Origin). Open the dashboard and sign in there.',
  ),
  noOrganization: denied('Your account belongs to no organization. Ask one of its admins to add you.'),
  largeAccount: denied(
    'Your account has more attributes than a session cookie can hold. Ask your identity administrator to remove some.',
  ),

  /** The path, or its slashes, are of no route. */
  noRoute: problem('NOT_FOUND', 'No such route.'),
  malformedId: problem('NOT_FOUND', 'No such resource.'),
  notFound: (what: Resource) => problem('NOT_FOUND', `No such ${what}.`),
  signInOff: problem('NOT_FOUND', 'Sign-in is off: the deployment has no dashboard.'),
  noMethod: (headers: Record<string, string>) =>
    problem('METHOD_NOT_ALLOWED', 'The path does not have this method.', headers),
  shutDown: gone(
    'This operation is no longer available. See the migration guide in the Link header, if present.',
  ),
  deletedEndpoint: gone(
    'The webhook endpoint that this request registered was deleted. Register it with a new Idempotency-Key.',
  ),
  deletedChannel: gone(
    'The channel that this request created was deleted. Create it with a new Idempotency-Key.',
  ),

  erasedConversation: gone(
    'The conversation that this request was about was erased. Its response is no longer available.',
  ),

  largeBody: (bytes: number) => problem('PAYLOAD_TOO_LARGE', `The body must be at most ${bytes} bytes.`),
  codedBody: problem('UNSUPPORTED_MEDIA_TYPE', 'The body must be sent without a Content-Encoding.'),
  otherMediaType: problem(
    'UNSUPPORTED_MEDIA_TYPE',
    'The body must be JSON, with Content-Type: application/json.',
  ),
  foreignReturnPath: problem('VALIDATION_ERROR', 'returnTo must be a path of the dashboard.'),
  longReturnPath: problem('VALIDATION_ERROR', 'returnTo must be shorter.'),
  unknownChannel: problem(
    'VALIDATION_ERROR',
    'channelId does not match a channel of the organization. Create the channel first.',
  ),

  keyInUse: conflict('A request with this Idempotency-Key is being processed.'),
  keyReused: problem(
    'IDEMPOTENCY_KEY_REUSED',
    'The Idempotency-Key was already used with a different request. Use a new key.',
  ),
  noSandbox: problem('SANDBOX_NOT_PROVISIONED', 'The organization has no sandbox. Provision one first.'),
  resolvedConversation: conflict('The conversation is resolved. Send a message to reopen it.'),
  noWidget: conflict(
    'The conversation is not on a channel of kind web_widget. Use a conversation on such a channel.',
  ),
  noReceiver: conflict('Nothing is sent to a channel of kind web_widget. Use one of kind http.'),
  /** By the status of the endpoint. */
  inactiveEndpoint: {
    auto_disabled: conflict('The webhook endpoint is disabled. Register it again as a new endpoint.'),
    paused: conflict('The webhook endpoint is paused. Resume it first: PATCH with "paused": false.'),
  },
  inactiveChannel: {
    auto_disabled: conflict('The channel is disabled. Resume it first: PATCH with "paused": false.'),
    paused: conflict('The channel is paused. Resume it first: PATCH with "paused": false.'),
  },
  notSubscribed: conflict(
    'The webhook endpoint does not subscribe to the event: to its type, or by its filter. Change its events or filter first.',
  ),
  erasedEvent: conflict('The conversation of the event was erased. The event can no longer be resent.'),
  firstAttemptRunning: conflict('The first attempt of the delivery is in progress.'),
  attemptRunning: conflict('An attempt of the delivery is in progress.'),
  attemptRequested: (start: 'in a moment' | 'at its turn under the limit of the endpoint') =>
    conflict(`The next attempt was already requested and starts ${start}.`),
  endedDelivery: (status: string) =>
    conflict(`The delivery is ${status}. To resend its event, use redeliver.`),
  openDelivery: conflict('The delivery is in progress. Resend it when it has ended.'),
  expiredEvent: (days: number) =>
    conflict(`The event is older than ${days} days and can no longer be resent.`),
  redeliveryRunning: conflict(
    'Another redelivery job of the receiver is running. Wait until it ends, or stop it.',
  ),

  tooMany: (what: 'channels' | 'content sources' | 'webhook endpoints', limit: number) =>
    problem('LIMIT_EXCEEDED', `An organization can have at most ${limit} ${what}. Delete one first.`),
  tooManyEndpointsAtHost: (limit: number) =>
    problem(
      'LIMIT_EXCEEDED',
      `An organization can have at most ${limit} webhook endpoints at one host, including disabled ones. Delete one at this host first, or subscribe one endpoint to several events.`,
    ),
  tooManyRequests: problem(
    'RATE_LIMITED',
    'Too many requests. Retry after the number of seconds in Retry-After.',
  ),
  recentSync: (waitSeconds: number) =>
    problem(
      'RATE_LIMITED',
      'A check of this source was requested less than a minute ago. Retry after the number of seconds in Retry-After.',
      { 'Retry-After': String(waitSeconds) },
    ),

  failed: problem(
    'INTERNAL_ERROR',
    'An internal error occurred. Retry later, and include the requestId when you report it.',
  ),
  /** A dependency is busy or down; the client may retry after a second. */
  busy: problem('SERVICE_UNAVAILABLE', 'The service is busy. Try again shortly.', { 'Retry-After': '1' }),
} as const;

/**
 * Another worker is processing the same thing: retry later. The message is logged, so it holds identifiers
 * and fixed text only.
 */
export class InProgressError extends Error {
  override name = 'InProgressError';
  readonly retryAfterSeconds: number | undefined;

  /** @param retryAfterSeconds until the next try; the queue's visibility timeout when absent */
  constructor(message: string, retryAfterSeconds?: number) {
    super(message);
    this.retryAfterSeconds = retryAfterSeconds;
  }
}
