import * as z from 'zod/mini';
import { DEFAULT_RETRY_POLICY } from '../domain/backoff.ts';
import { FIRST_LANES, LANE_TABLE, type QueueVariable } from '../domain/lanes.ts';
import type { RateLimits } from '../domain/rate-limit.ts';

/*
 * What the functions are told by their environment. The stack's `environment` must satisfy the same types, so that a
 * variable that one side forgets fails to compile. This is the only file that reads `process.env`.
 */

const name = z.string().check(z.minLength(1));
const number = z.pipe(
  z.string().check(z.regex(/^\d+(\.\d+)?$/, { error: 'must be a number' })),
  z.transform(Number),
);

const count = z.pipe(
  z.string().check(z.regex(/^[1-9]\d*$/, { error: 'must be a whole number' })),
  z.transform(Number),
);

/** Every endpoint function. */
export const ApiEnvironment = z.object({
  SERVICE_TABLE: name,
  OUTBOX_TABLE: name,
  DELIVERIES_TABLE: name,
  RATE_TABLE: name,
  /** Requests a minute for each tier. */
  RATE_LIMIT_SANDBOX: count,
  RATE_LIMIT_STANDARD: count,
  RATE_LIMIT_SCALE: count,
  /** ARN of the secret that holds the keyring which seals cursors. */
  CURSOR_KEYS: name,
  /** ARN of the secret that holds the keyring which signing secrets are derived from. */
  SIGNING_KEYS: name,
});
export type ApiEnvironment = z.input<typeof ApiEnvironment>;

/**
 * The endpoint functions that visitors of web widgets call: requests a minute of all visitors of an
 * organization, by its tier.
 */
export const VisitorEnvironment = z.object({
  VISITOR_LIMIT_SANDBOX: count,
  VISITOR_LIMIT_STANDARD: count,
  VISITOR_LIMIT_SCALE: count,
});
export type VisitorEnvironment = z.input<typeof VisitorEnvironment>;

/** The endpoint functions that read the ledger. */
export const StatsEnvironment = z.object({ LEDGER_TABLE: name });
export type StatsEnvironment = z.infer<typeof StatsEnvironment>;

/** The endpoint function that tells when what fails will end: how attempts are spaced, as for the dispatcher. */
export const RetryEnvironment = z.object({
  RETRY_BASE_SECONDS: number,
  RETRY_CAP_SECONDS: number,
  ATTEMPT_TIMEOUT_SECONDS: number,
});
export type RetryEnvironment = z.input<typeof RetryEnvironment>;

/** The endpoint functions that people call with sessions: which tokens they accept. */
export const SessionEnvironment = z.object({
  /** Issuer of the OpenID Connect tokens, exactly as their `iss` says it. */
  OIDC_ISSUER: z.url(),
  /** Client that the tokens are for (`aud`). */
  OIDC_AUDIENCE: name,
  /** Claims that name the organization and the role. */
  OIDC_ORGANIZATION_CLAIM: name,
  OIDC_ROLE_CLAIM: name,
  /** Origin of the dashboard, which writes with a session cookie must come from; without one there are none. */
  DASHBOARD_ORIGIN: z.optional(z.url()),
});
export type SessionEnvironment = z.input<typeof SessionEnvironment>;

/** The functions by which people sign in. */
export const SignInEnvironment = z.extend(SessionEnvironment, {
  /** What the issuer is asked for, space-separated. */
  OIDC_SCOPE: name,
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
  Object.fromEntries(Object.values(table).map(({ queue }) => [queue, name])) as Record<
    QueueVariable<T>,
    typeof name
  >;
const Queues = z.object(/* @__PURE__ */ queueVariables(LANE_TABLE));

export const FanOutEnvironment = z.extend(z.object(/* @__PURE__ */ queueVariables(FIRST_LANES)), {
  SERVICE_TABLE: name,
  DELIVERIES_TABLE: name,
});
export type FanOutEnvironment = z.infer<typeof FanOutEnvironment>;

/** Works on redelivery jobs. */
export const RedeliverEnvironment = z.extend(FanOutEnvironment, {
  /** Its own queue, to which it sends what is left of a job. */
  REDELIVERIES_QUEUE: name,
});
export type RedeliverEnvironment = z.infer<typeof RedeliverEnvironment>;

/** Sends the messages of redelivery jobs again that were lost. */
export const ResumeRedeliveriesEnvironment = z.object({
  SERVICE_TABLE: name,
  REDELIVERIES_QUEUE: name,
  GRACE_SECONDS: number,
});
export type ResumeRedeliveriesEnvironment = z.input<typeof ResumeRedeliveriesEnvironment>;

/**
 * The functions that send requests to hosts that customers choose: what their user agent says of the sender.
 */
export const SenderEnvironment = z.object({
  /** Where the owner of a host reads what the requests are. */
  SENDER_URL: z.optional(z.url()),
  /** Where the owner of a host can write to. */
  SENDER_CONTACT: z.optional(name),
});
export type SenderEnvironment = z.infer<typeof SenderEnvironment>;

export const DispatchEnvironment = z.extend(Queues, {
  SERVICE_TABLE: name,
  OUTBOX_TABLE: name,
  DELIVERIES_TABLE: name,
  SIGNING_KEYS: name,
  RETRY_BASE_SECONDS: number,
  RETRY_CAP_SECONDS: number,
  ATTEMPT_TIMEOUT_SECONDS: number,
  /** How late a delivery may be before its message counts as lost. */
  GRACE_SECONDS: number,
});
export type DispatchEnvironment = z.input<typeof DispatchEnvironment>;

/** Follows the deliveries' stream. */
export const WatchEnvironment = z.object({
  SERVICE_TABLE: name,
  DELIVERIES_TABLE: name,
  LEDGER_TABLE: name,
  GRACE_SECONDS: number,
});
export type WatchEnvironment = z.input<typeof WatchEnvironment>;

export const ReconcileEnvironment = z.extend(Queues, {
  DELIVERIES_TABLE: name,
  GRACE_SECONDS: number,
});
export type ReconcileEnvironment = z.input<typeof ReconcileEnvironment>;

/** Checks the ledger. */
export const AuditEnvironment = z.object({
  SERVICE_TABLE: name,
  DELIVERIES_TABLE: name,
  LEDGER_TABLE: name,
  GRACE_SECONDS: number,
});
export type AuditEnvironment = z.input<typeof AuditEnvironment>;

/** Takes reminders that their queue gave up. */
export const DeadRemindersEnvironment = z.object({ DELIVERIES_TABLE: name, GRACE_SECONDS: number });
export type DeadRemindersEnvironment = z.input<typeof DeadRemindersEnvironment>;

/** Takes what the fan-out's stream gave up. */
export const DeadFanOutsEnvironment = z.extend(FanOutEnvironment, {
  OUTBOX_TABLE: name,
  /** The queue that it takes them from, and leaves them in for later. */
  DEAD_FAN_OUTS: name,
});
export type DeadFanOutsEnvironment = z.infer<typeof DeadFanOutsEnvironment>;

/** Deletes what resets of sandboxes have left behind. */
export const PurgeEnvironment = z.object({
  SERVICE_TABLE: name,
  OUTBOX_TABLE: name,
  DELIVERIES_TABLE: name,
  LEDGER_TABLE: name,
  KNOWLEDGE_TABLE: name,
  /** How long after a reset something of the generation before may still be written. */
  LINGER_SECONDS: number,
});
export type PurgeEnvironment = z.input<typeof PurgeEnvironment>;

/** Puts what the outbox tells on the bus. */
export const PublishEnvironment = z.object({ EVENT_BUS: name });
export type PublishEnvironment = z.infer<typeof PublishEnvironment>;

/** Takes what the publisher's stream gave up. */
export const DeadPublicationsEnvironment = z.extend(PublishEnvironment, {
  OUTBOX_TABLE: name,
  /** The queue that it takes them from, and leaves them in for later. */
  DEAD_PUBLICATIONS: name,
});
export type DeadPublicationsEnvironment = z.infer<typeof DeadPublicationsEnvironment>;

/** Counts what organizations use. */
export const MeterEnvironment = z.object({ SERVICE_TABLE: name, USAGE_TABLE: name });
export type MeterEnvironment = z.infer<typeof MeterEnvironment>;

/** The endpoint function that shows usage. */
export const UsageEnvironment = z.object({ USAGE_TABLE: name });
export type UsageEnvironment = z.infer<typeof UsageEnvironment>;

/** The endpoint functions of sources. */
export const KnowledgeEnvironment = z.object({ KNOWLEDGE_TABLE: name });
export type KnowledgeEnvironment = z.infer<typeof KnowledgeEnvironment>;

/** The endpoint function that asks for a check of a source. */
export const SyncEnvironment = z.object({
  /** For which it asks for no other check of the same source. */
  SYNC_COOLDOWN_SECONDS: number,
});
export type SyncEnvironment = z.input<typeof SyncEnvironment>;

/** Sends messages for the sources that are due. */
export const SweepEnvironment = z.object({
  KNOWLEDGE_TABLE: name,
  CHECKS_QUEUE: name,
  MAILINGS_TABLE: name,
  /** The queue of the function that sends e-mail; that of the checks where the deployment sends none. */
  NOTIFY_QUEUE: name,
});
export type SweepEnvironment = z.infer<typeof SweepEnvironment>;

/** Fetches sources and compares them. */
export const CheckSourceEnvironment = z.object({
  SERVICE_TABLE: name,
  OUTBOX_TABLE: name,
  KNOWLEDGE_TABLE: name,
  /** From one check of a source to the next. */
  CHECK_EVERY_SECONDS: number,
  /** Checks of one organization that run at once. */
  CHECKS_PER_ORGANIZATION: count,
  /** Its own queue, in which it hides what waits for its organization's share. */
  CHECKS_QUEUE: name,
});
export type CheckSourceEnvironment = z.input<typeof CheckSourceEnvironment>;

/** Writes to the admins. */
export const NotifyEnvironment = z.object({
  SERVICE_TABLE: name,
  KNOWLEDGE_TABLE: name,
  MAILINGS_TABLE: name,
  USER_POOL: name,
  MAIL_FROM: name,
  /** Origin of the dashboard, which mails link to. */
  DASHBOARD_ORIGIN: z.url(),
  /** For which admins are told once at most of a source's URL. */
  NOTICE_SECONDS: number,
  /** Recipients of e-mail about content in a UTC day: of one organization, and of all. */
  MAIL_BUDGET: count,
  MAIL_CEILING: count,
});
export type NotifyEnvironment = z.input<typeof NotifyEnvironment>;

export const EnrolEnvironment = z.object({ SERVICE_TABLE: name });
export type EnrolEnvironment = z.infer<typeof EnrolEnvironment>;

/** The function's environment is not what the code needs: a defect of the deployment, met when the function loads. */
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

/** Whether lines of the level DEBUG are to be written. The level is for Powertools to read and to judge. */
export const doesDebug = (env: NodeJS.ProcessEnv = process.env): boolean =>
  /^(debug|trace)$/i.test(env.POWERTOOLS_LOG_LEVEL ?? '');

/**
 * Whether receivers may be at loopback addresses, as they are on a developer's machine. No cloud stack can say so: Lambda sets
 * `AWS_EXECUTION_ENV` itself and lets nobody override it, and where it names Lambda the setting is refused.
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
  environment: Pick<z.output<typeof DispatchEnvironment>, 'RETRY_BASE_SECONDS' | 'RETRY_CAP_SECONDS'>,
) => ({
  ...DEFAULT_RETRY_POLICY,
  baseSeconds: environment.RETRY_BASE_SECONDS,
  capSeconds: environment.RETRY_CAP_SECONDS,
});

/** What a process needs of the environment to start another one that shall know nothing else of it: where shared libraries are. */
export const libraryPath = ({ LD_LIBRARY_PATH }: NodeJS.ProcessEnv = process.env): NodeJS.ProcessEnv =>
  LD_LIBRARY_PATH === undefined ? {} : { LD_LIBRARY_PATH };
