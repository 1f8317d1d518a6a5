import * as z from 'zod/mini';
import { FIRST_LANES, LANE_TABLE, type QueueVariable } from '../domain/lanes.ts';
import type { RateLimits } from '../domain/rate-limit.ts';
import { DEFAULT_RETRY_POLICY } from '../domain/timing.ts';

/*
 * Reads the environment of the functions; no other file reads `process.env`. The schemas of routes are here,
 * that of a worker is in the worker's file. The stack's `environment` must satisfy the same types, so that a
 * variable that one side forgets fails to compile.
 */

/** A name, URL or ARN. */
export const NonEmptyText = z.string().check(z.minLength(1));
/** Fractions are allowed, signs and exponents are not. */
export const DecimalNumber = z.pipe(
  z.string().check(z.regex(/^\d+(\.\d+)?$/, { error: 'must be a number' })),
  z.transform(Number),
);
/** From 1. */
export const WholeNumber = z.pipe(
  z.string().check(z.regex(/^[1-9]\d*$/, { error: 'must be a whole number' })),
  z.transform(Number),
);

/** Every endpoint function. */
export const ApiEnvironment = z.object({
  SERVICE_TABLE: NonEmptyText,
  OUTBOX_TABLE: NonEmptyText,
  DELIVERIES_TABLE: NonEmptyText,
  RATE_TABLE: NonEmptyText,
  /** Requests a minute for each tier. */
  RATE_LIMIT_SANDBOX: WholeNumber,
  RATE_LIMIT_STANDARD: WholeNumber,
  RATE_LIMIT_SCALE: WholeNumber,
  /** ARN of the secret that holds the keyring which seals cursors. */
  CURSOR_KEYS: NonEmptyText,
  /** ARN of the secret that holds the keyring which signing secrets are derived from. */
  SIGNING_KEYS: NonEmptyText,
});
export type ApiEnvironment = z.input<typeof ApiEnvironment>;

/**
 * The endpoint functions that visitors of web widgets call: requests a minute of all visitors of an
 * organization, by its tier.
 */
export const VisitorEnvironment = z.object({
  VISITOR_LIMIT_SANDBOX: WholeNumber,
  VISITOR_LIMIT_STANDARD: WholeNumber,
  VISITOR_LIMIT_SCALE: WholeNumber,
});
export type VisitorEnvironment = z.input<typeof VisitorEnvironment>;

/** The endpoint functions that read the ledger. */
export const StatsEnvironment = z.object({ LEDGER_TABLE: NonEmptyText });
export type StatsEnvironment = z.infer<typeof StatsEnvironment>;

/**
 * The endpoint function that tells when what fails will end: how attempts are spaced, as for the dispatcher.
 */
export const RetryEnvironment = z.object({
  RETRY_BASE_SECONDS: DecimalNumber,
  RETRY_CAP_SECONDS: DecimalNumber,
  ATTEMPT_TIMEOUT_SECONDS: DecimalNumber,
});
export type RetryEnvironment = z.input<typeof RetryEnvironment>;

/** The endpoint functions that people call with sessions: which tokens they accept. */
export const SessionEnvironment = z.object({
  /** Issuer of the OpenID Connect tokens, exactly as their `iss` says it. */
  OIDC_ISSUER: z.url(),
  /** Client that the tokens are for (`aud`). */
  OIDC_AUDIENCE: NonEmptyText,
  /** Claims that name the organization and the role. */
  OIDC_ORGANIZATION_CLAIM: NonEmptyText,
  OIDC_ROLE_CLAIM: NonEmptyText,
  /**
   * Origin of the dashboard, which writes with a session cookie must come from; without one there are none.
   */
  DASHBOARD_ORIGIN: z.optional(z.url()),
});
export type SessionEnvironment = z.input<typeof SessionEnvironment>;

/** The functions by which people sign in. */
export const SignInEnvironment = z.extend(SessionEnvironment, {
  /** What the issuer is asked for, space-separated. */
  OIDC_SCOPE: NonEmptyText,
});
export type SignInEnvironment = z.input<typeof SignInEnvironment>;

/** The functions of the organization's settings. */
export const OrganizationEnvironment = z.object({
  /** Whether this deployment has a function that sends e-mail to admins. */
  MAILER: z.enum(['on', 'off']),
});
export type OrganizationEnvironment = z.infer<typeof OrganizationEnvironment>;

/** The variables that hold URLs of delivery queues. */
const queueVariables = <T extends Readonly<Record<string, { queue: string }>>>(table: T) =>
  Object.fromEntries(Object.values(table).map(({ queue }) => [queue, NonEmptyText])) as Record<
    QueueVariable<T>,
    typeof NonEmptyText
  >;
/** URLs of the delivery queues that messages of first attempts go to. */
export const FirstAttemptQueues = /* @__PURE__ */ queueVariables(FIRST_LANES);
/** URLs of all delivery queues. */
export const DeliveryQueues = /* @__PURE__ */ queueVariables(LANE_TABLE);

/**
 * The functions that send requests to hosts that customers choose: what their user agent says of the sender.
 */
export const SenderEnvironment = z.object({
  /** Where the owner of a host reads what the requests are. */
  SENDER_URL: z.optional(z.url()),
  /** Where the owner of a host can write to. */
  SENDER_CONTACT: z.optional(NonEmptyText),
});
export type SenderEnvironment = z.infer<typeof SenderEnvironment>;

/** The endpoint function that shows usage. */
export const UsageEnvironment = z.object({ USAGE_TABLE: NonEmptyText });
export type UsageEnvironment = z.infer<typeof UsageEnvironment>;

/** The endpoint functions of sources. */
export const KnowledgeEnvironment = z.object({ KNOWLEDGE_TABLE: NonEmptyText });
export type KnowledgeEnvironment = z.infer<typeof KnowledgeEnvironment>;

/** The endpoint function that asks for a check of a source. */
export const SyncEnvironment = z.object({
  /** For which it asks for no other check of the same source. */
  SYNC_COOLDOWN_SECONDS: DecimalNumber,
});
export type SyncEnvironment = z.input<typeof SyncEnvironment>;

/**
 * The function's environment is not what the code needs: a defect of the deployment, met when the function
 * loads.
 */
export class ConfigurationError extends Error {
  override name = 'ConfigurationError';
}

/** @throws ConfigurationError that names each variable at fault */
export function readEnvironment<S extends z.ZodMiniType>(
  schema: S,
  source: NodeJS.ProcessEnv = process.env,
): z.output<S> {
  // Once: to compile the check would take longer than to do it.
  const parsed = schema.safeParse(source, { jitless: true });
  if (parsed.success) return parsed.data;
  const faults = parsed.error.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`);
  throw new ConfigurationError(`environment variables are missing or wrong: ${faults.join('; ')}`);
}

/**
 * Whether receivers may be at loopback addresses, as they are on a developer's machine. No cloud stack can
 * say so: Lambda sets `AWS_EXECUTION_ENV` itself and lets nobody override it, and where it names Lambda the
 * setting is refused.
 * @throws ConfigurationError when the setting is present inside Lambda
 */
export function loopbackReceivers(source: NodeJS.ProcessEnv = process.env): 'refuse' | 'allow' {
  if (source.LOOPBACK_RECEIVERS !== 'allow') return 'refuse';
  if (source.AWS_EXECUTION_ENV?.startsWith('AWS_Lambda_') !== false)
    throw new ConfigurationError('LOOPBACK_RECEIVERS is for the local run and must not be set in Lambda');
  return 'allow';
}

export const rateLimits = (environment: z.output<typeof ApiEnvironment>): RateLimits => ({
  sandbox: environment.RATE_LIMIT_SANDBOX,
  standard: environment.RATE_LIMIT_STANDARD,
  scale: environment.RATE_LIMIT_SCALE,
});

export const visitorLimits = (environment: z.output<typeof VisitorEnvironment>): RateLimits => ({
  sandbox: environment.VISITOR_LIMIT_SANDBOX,
  standard: environment.VISITOR_LIMIT_STANDARD,
  scale: environment.VISITOR_LIMIT_SCALE,
});

/** Attempts are fixed by the specification; base and cap are configuration. */
export const retryPolicy = (
  environment: Pick<z.output<typeof RetryEnvironment>, 'RETRY_BASE_SECONDS' | 'RETRY_CAP_SECONDS'>,
) => ({
  ...DEFAULT_RETRY_POLICY,
  baseSeconds: environment.RETRY_BASE_SECONDS,
  capSeconds: environment.RETRY_CAP_SECONDS,
});

/**
 * What a process needs of the environment to start another one that shall know nothing else of it: where
 * shared libraries are.
 */
export const libraryPath = ({ LD_LIBRARY_PATH }: NodeJS.ProcessEnv = process.env): NodeJS.ProcessEnv =>
  LD_LIBRARY_PATH === undefined ? {} : { LD_LIBRARY_PATH };

/** What requests of the service are for, as their `user-agent` names it. */
type Product = 'ConversationService-Webhooks' | 'ConversationService-Knowledge';

/**
 * The `user-agent` of requests to receivers and sources, with a comment that tells the host's owner where to
 * read what the requests are and how to stop them (RFC 9110, 10.1.5).
 */
export function outboundUserAgent(
  product: Product,
  { SENDER_URL: url, SENDER_CONTACT: contact }: SenderEnvironment,
): string {
  const comment = [...(url === undefined ? [] : [`+${url}`]), ...(contact === undefined ? [] : [contact])];
  return comment.length === 0 ? `${product}/1.0` : `${product}/1.0 (${comment.join('; ')})`;
}
